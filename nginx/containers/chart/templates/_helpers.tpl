{{- define "urlmode.selector" -}}
app: urlmode
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "urlmode.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag }}
{{- end }}

{{- define "urlmode.secret" -}}
{{ .Values.secret | default .Release.Name }}
{{- end }}

{{- define "urlmode.adminSecret" -}}
{{ .Values.database.adminSecret | default (printf "%s-admin" .Release.Name) }}
{{- end }}

{{- define "urlmode.config" -}}
{{- $config := dict "base_url" (printf "https://%s" .Values.host) "keys_file" "keys" "user_check" .Values.signIn.userCheck "providers" .Values.providers }}
{{- if not .Values.database.secret }}
{{- $_ := set $config "database_url" .Values.database.url }}
{{- end }}
{{- if eq .Values.signIn.userCheck "openid" }}
{{- $files := dict "jwks_file" "/var/lib/urlmode/jwks.json" "refresh_file" "/run/urlmode/metrics/jwks-refresh" }}
{{- $_ := set $config "openid" (merge $files .Values.signIn.openid) }}
{{- end }}
{{- mergeOverwrite $config .Values.config | toPrettyJson }}
{{- end }}

{{- define "urlmode.pod" -}}
automountServiceAccountToken: false
securityContext: { runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532, seccompProfile: { type: RuntimeDefault } }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- end }}

{{- define "urlmode.container" -}}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
{{- end }}
