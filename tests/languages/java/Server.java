// SPDX-License-Identifier: MIT
// An MCP server on the official Java SDK, over HTTP: it sells a report and connects an account. What waits for the payment
// and for the account is urlmode's api, which it calls with the HTTP client of Java. Its environment:
//
//     URLMODE_API_URL, URLMODE_API_KEY    the api, and a key of it
//     PORT            where it listens
//     APP_USERS       the subject of each access token, {"a-token": "ada@example.org"}
//     APP_ISSUER, APP_CLIENT_ID    an OpenID provider, and this server there: a public client
//     APP_CHECKOUT    the page on which the report is paid

import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.apache.catalina.startup.Tomcat;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

public final class Server {
	static final JsonMapper JSON = new JsonMapper();
	static final HttpClient HTTP = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
	static final int LEASE_MS = 30_000;

	/** What the api refuses: its code, and how long another call has the lease at most. */
	static final class Refused extends RuntimeException {
		final String code;
		final long leftMs;

		Refused(JsonNode error) {
			super(error.path("message").asString());
			code = error.path("code").asString();
			leftMs = error.path("left_ms").asLong(0);
		}
	}

	/** The call ends with this text. */
	static final class Unfinished extends RuntimeException {
		Unfinished(String text) {
			super(text);
		}
	}

	/**
	 * Calls a method of the api. A lost connection and 503 are tried again: each method that is used here can be repeated.
	 */
	static JsonNode call(String method, Map<String, ?> body) throws InterruptedException {
		var request = HttpRequest.newBuilder(URI.create(env("URLMODE_API_URL") + "/v1/" + method))
			.timeout(Duration.ofSeconds(75))
			.header("Authorization", "Bearer " + env("URLMODE_API_KEY"))
			.header("Content-Type", "application/json")
			.POST(HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body))).build();
		for (int tried = 1;; tried += 1) {
			try {
				var response = HTTP.send(request, HttpResponse.BodyHandlers.ofByteArray());
				if (response.statusCode() < 300)
					return JSON.readTree(response.body());
				if (response.statusCode() < 502 || tried == 30)
					throw new Refused(JSON.readTree(response.body()).path("error"));
			} catch (IOException lost) {
				if (tried == 30)
					throw new Unfinished("The server cannot be reached: call again later.");
			}
			Thread.sleep(1_000);
		}
	}

	/** The target of an elicitation, made from its id and the way back. */
	interface Target {
		String of(String id, String returnUrl);
	}

	/** An elicitation that this server has created, and who owns it. */
	record Elicitation(String id, String subject, String url, String returnUrl) {
		/**
		 * Creates one, or goes on with the earlier one for the same thing.
		 *
		 * @param wanted provider, kind, subject and what the kind needs
		 */
		static Elicitation create(Map<String, Object> wanted, Target target) throws InterruptedException {
			var body = new LinkedHashMap<>(wanted);
			var answer = call("create", body);
			if (answer.has("needs")) {
				var id = answer.path("id").asString();
				body.put("id", id);
				body.put("target_url", target.of(id, answer.path("return_url").asString()));
				answer = call("create", body);
			}
			return new Elicitation(answer.path("id").asString(), (String) wanted.get("subject"),
				answer.path("url").asString(), answer.path("return_url").asString());
		}

		/** Asks the client to open the link, and waits for what comes of it, whatever the client says of its user. */
		JsonNode ask(McpSyncServerExchange exchange, String message) throws InterruptedException {
			var capabilities = exchange.getClientCapabilities().elicitation();
			if (capabilities == null || capabilities.url() == null)
				throw new Unfinished(message + " Show the user this link, and call again: " + url);
			if (state("") == null) {
				var answer = exchange.createElicitation(McpSchema.ElicitUrlRequest.builder(message, url, id).build());
				if (answer.action() != McpSchema.ElicitResult.Action.ACCEPT)
					throw new Unfinished("The client did not open it. If the user refused, stop; otherwise show this link: " + url);
			}
			var seen = "";
			for (int minutes = 0; minutes < 5; minutes += 1) {
				var moved = call("wait", Map.of("of", List.of(with("seen", seen)), "for_ms", 60_000)).path("elicitations").path(0);
				if (moved.path("status").asString("").equals("completed"))
					return accepted(moved);
				seen = moved.path("seen").asString(seen);
			}
			throw new Unfinished("Nothing was heard yet. Call again when the user is done: " + url);
		}

		/** The row if it is completed already, otherwise null. */
		JsonNode state(String seen) throws InterruptedException {
			var row = call("wait", Map.of("of", List.of(owner()), "for_ms", 0)).path("elicitations").path(0);
			return row.path("status").asString("").equals("completed") ? row : null;
		}

		private JsonNode accepted(JsonNode row) {
			if (row.path("action").asString().equals("accept"))
				return row;
			throw new Unfinished("Not done: " + row.path("action").asString() + " " + row.path("reason").asString());
		}

		Map<String, Object> owner() {
			return Map.of("id", id, "subject", subject);
		}

		Map<String, Object> with(Object... more) {
			var body = new LinkedHashMap<>(owner());
			for (int i = 0; i < more.length; i += 2)
				if (!"".equals(more[i + 1]))
					body.put((String) more[i], more[i + 1]);
			return body;
		}

		/** Takes the lease on what came back, which one call of all instances has at a time. */
		JsonNode beginClaim() throws InterruptedException {
			var body = with("lease_ms", LEASE_MS, "claim_id", UUID.randomUUID().toString());
			for (;;) {
				try {
					return call("begin_claim", body);
				} catch (Refused refused) {
					if (!refused.code.equals("leased"))
						throw refused;
					Thread.sleep(Math.min(refused.leftMs + 1, 1_000));
				}
			}
		}
	}

	static String buyReport(McpSyncServerExchange exchange, String subject) throws InterruptedException {
		var report = Elicitation.create(Map.of("provider", "stripe", "kind", "payment", "subject", subject,
			"item", "report:2026", "expected", Map.of("amount", 1050, "currency", "EUR")),
			(id, returnUrl) -> env("APP_CHECKOUT") + "?reference=" + id);
		report.ask(exchange, "The report costs 10.50 EUR.");
		var claim = report.beginClaim();
		// An instance that died after this line's work has left its result: it is given again, and nothing is done twice.
		if (claim.path("state").asString().equals("fulfilled"))
			return claim.path("result").asString();
		var text = "Paid with " + claim.path("reference").asString() + ".";
		// Without confirm_claim, the report is found by each further call, and paid once.
		call("fulfil_claim", report.with("fence", claim.path("fence").asLong(), "result", text));
		return text;
	}

	static String connectAccount(McpSyncServerExchange exchange, String subject) throws InterruptedException {
		var account = Elicitation.create(Map.of("provider", "demo", "kind", "oauth", "subject", subject, "pkce", true),
			(id, returnUrl) -> env("APP_ISSUER") + "/auth?" + form("response_type", "code", "client_id", env("APP_CLIENT_ID"),
				"redirect_uri", returnUrl, "scope", "openid profile"));
		var row = account.ask(exchange, "Connect your Demo Account.");
		// The claim is final before the code is sent: a code works once.
		account.beginClaim();
		try {
			var tokens = send(HttpRequest.newBuilder(URI.create(env("APP_ISSUER") + "/token"))
				.header("Content-Type", "application/x-www-form-urlencoded")
				.POST(HttpRequest.BodyPublishers.ofString(form("grant_type", "authorization_code",
					"code", row.path("result").path("code").asString(), "redirect_uri", account.returnUrl(),
					"client_id", env("APP_CLIENT_ID"), "code_verifier", row.path("code_verifier").asString()))));
			var user = send(HttpRequest.newBuilder(URI.create(env("APP_ISSUER") + "/me"))
				.header("Authorization", "Bearer " + tokens.path("access_token").asString()));
			call("fulfil_claim", account.owner());
			return "Connected the account of " + user.path("name").asString() + ".";
		} catch (IOException failed) {
			call("release_claim", account.with("reason", "exchange_failed"));
			throw new Unfinished("The account is not connected: call again.");
		}
	}

	static JsonNode send(HttpRequest.Builder request) throws IOException, InterruptedException {
		var response = HTTP.send(request.timeout(Duration.ofSeconds(30)).build(), HttpResponse.BodyHandlers.ofByteArray());
		if (response.statusCode() != 200)
			throw new IOException("the provider answered " + response.statusCode());
		return JSON.readTree(response.body());
	}

	static String form(String... pairs) {
		var text = new StringBuilder();
		for (int i = 0; i < pairs.length; i += 2)
			text.append(i == 0 ? "" : "&").append(pairs[i]).append('=').append(URLEncoder.encode(pairs[i + 1], StandardCharsets.UTF_8));
		return text.toString();
	}

	static String env(String name) {
		var value = System.getenv(name);
		if (value == null)
			throw new IllegalStateException(name + " is not set");
		return value;
	}

	/** What a tool does for a subject. */
	interface Body {
		String run(McpSyncServerExchange exchange, String subject) throws InterruptedException;
	}

	static McpSchema.CallToolResult run(McpSyncServerExchange exchange, Body body) {
		try {
			return McpSchema.CallToolResult.builder().addTextContent(body.run(exchange, (String) exchange.transportContext().get("subject"))).build();
		} catch (Unfinished | Refused ended) {
			return McpSchema.CallToolResult.builder().addTextContent(ended.getMessage()).isError(true).build();
		} catch (InterruptedException stopped) {
			Thread.currentThread().interrupt();
			return McpSchema.CallToolResult.builder().addTextContent("The server stops: call again.").isError(true).build();
		}
	}

	static McpSchema.Tool tool(String name, String description) {
		return McpSchema.Tool.builder(name, Map.of("type", "object")).description(description).build();
	}

	public static void main(String[] args) throws Exception {
		var users = JSON.readTree(env("APP_USERS"));
		var transport = HttpServletStreamableServerTransportProvider.builder().mcpEndpoint("/mcp").contextExtractor(request -> {
			var given = request.getHeader("Authorization");
			var token = given == null ? "" : given.replaceFirst("^Bearer ", "");
			return McpTransportContext.create(users.has(token) ? Map.of("subject", users.get(token).asString()) : Map.of());
		}).build();
		McpServer.sync(transport).serverInfo("reports", "1.0.0").requestTimeout(Duration.ofMinutes(10))
			.toolCall(tool("buy_report", "Buys the report."), (exchange, request) -> run(exchange, Server::buyReport))
			.toolCall(tool("connect_account", "Connects your Demo Account."), (exchange, request) -> run(exchange, Server::connectAccount))
			.build();

		var tomcat = new Tomcat();
		tomcat.setBaseDir(System.getProperty("java.io.tmpdir"));
		tomcat.getConnector().setPort(Integer.parseInt(env("PORT")));
		tomcat.getConnector().setProperty("address", "127.0.0.1");
		var context = tomcat.addContext("", null);
		Tomcat.addServlet(context, "mcp", transport).setAsyncSupported(true);
		context.addServletMappingDecoded("/mcp", "mcp");
		tomcat.start();
		System.out.println("http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + "/mcp");
		tomcat.getServer().await();
	}
}
