// SPDX-License-Identifier: MIT
//! An MCP server on the official Rust SDK, over HTTP: it sells a report and connects an account. What waits for the payment
//! and for the account is urlmode's api. Its environment:
//!
//!     URLMODE_API_URL, URLMODE_API_KEY    the api, and a key of it
//!     PORT            where it listens
//!     APP_USERS       the subject of each access token, {"a-token": "ada@example.org"}
//!     APP_ISSUER, APP_CLIENT_ID    an OpenID provider, and this server there: a public client
//!     APP_CHECKOUT    the page on which the report is paid

use std::{env, error::Error, fmt, sync::Arc, time::Duration};

use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use rmcp::{
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitationAction, ListToolsResult, PaginatedRequestParams,
        ServerCapabilities, ServerConfig, Tool,
    },
    service::{ElicitationError, RequestContext, RoleServer},
    transport::streamable_http_server::{session::local::LocalSessionManager, StreamableHttpServerConfig, StreamableHttpService},
    ErrorData, ServerHandler,
};
use serde_json::{json, Map, Value};
use tokio::time::sleep;

const LEASE_MS: u64 = 30_000;

/// Why a call ends without what was asked for.
#[derive(Debug)]
enum Ended {
    /// The api refuses: its code, and how long another call has the lease at most.
    Refused { code: String, message: String, left_ms: u64 },
    /// With this text for the model.
    Unfinished(String),
}

impl fmt::Display for Ended {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Ended::Refused { message, .. } => to.write_str(message),
            Ended::Unfinished(text) => to.write_str(text),
        }
    }
}

impl Error for Ended {}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

fn text(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_default().to_owned()
}

/// The api, with the key of this server.
#[derive(Clone)]
struct Api {
    http: reqwest::Client,
    url: String,
    key: String,
}

impl Api {
    /// Calls a method. A lost connection and 503 are tried again: each method that is used here can be repeated.
    async fn call(&self, method: &str, body: &Value) -> Result<Value, Ended> {
        for tried in 1.. {
            let sent = self.http.post(format!("{}/v1/{method}", self.url)).bearer_auth(&self.key).json(body).timeout(Duration::from_secs(75));
            match sent.send().await {
                Ok(answer) if answer.status().is_success() => {
                    if let Ok(value) = answer.json().await {
                        return Ok(value);
                    }
                }
                Ok(answer) if answer.status().as_u16() < 502 || tried == 30 => {
                    let error = answer.json::<Value>().await.unwrap_or_default()["error"].take();
                    return Err(Ended::Refused {
                        code: text(&error, "code"),
                        message: text(&error, "message"),
                        left_ms: error["left_ms"].as_u64().unwrap_or(0),
                    });
                }
                _ => {}
            }
            if tried >= 30 {
                break;
            }
            sleep(Duration::from_secs(1)).await;
        }
        Err(Ended::Unfinished("The server cannot be reached: call again later.".into()))
    }

    /// Creates an elicitation, or goes on with the earlier one for the same thing. `target` is given its id and the way back.
    async fn create(&self, mut wanted: Value, target: impl Fn(&str, &str) -> String) -> Result<Elicitation, Ended> {
        let mut answer = self.call("create", &wanted).await?;
        if !answer["needs"].is_null() {
            let id = text(&answer, "id");
            wanted["target_url"] = target(&id, &text(&answer, "return_url")).into();
            wanted["id"] = id.into();
            answer = self.call("create", &wanted).await?;
        }
        Ok(Elicitation {
            api: self.clone(),
            id: text(&answer, "id"),
            subject: text(&wanted, "subject"),
            url: text(&answer, "url"),
            return_url: text(&answer, "return_url"),
        })
    }
}

/// An elicitation that this server has created, and who owns it.
struct Elicitation {
    api: Api,
    id: String,
    subject: String,
    url: String,
    return_url: String,
}

impl Elicitation {
    /// `more` with the elicitation and its owner.
    fn with(&self, mut more: Value) -> Value {
        more["id"] = self.id.clone().into();
        more["subject"] = self.subject.clone().into();
        more
    }

    /// What has become of it since `seen`, or null after `for_ms`.
    async fn wait(&self, seen: &str, for_ms: u64) -> Result<Value, Ended> {
        let element = if seen.is_empty() { self.with(json!({})) } else { self.with(json!({ "seen": seen })) };
        let mut answer = self.api.call("wait", &json!({ "of": [element], "for_ms": for_ms })).await?;
        Ok(answer["elicitations"][0].take())
    }

    /// Asks the client to open the link, and waits for what comes of it.
    async fn ask(&self, context: &RequestContext<RoleServer>, message: &str) -> Result<Value, Ended> {
        let mut row = self.wait("", 0).await?;
        if row["status"] != "completed" {
            let url = self.url.parse::<url::Url>().map_err(|_| Ended::Unfinished("The link is none.".into()))?;
            match context.peer.elicit_url(message, url, self.id.clone()).await {
                Ok(ElicitationAction::Accept) => {}
                // A client's answer is not its user's will.
                Ok(_) => return Err(self.link("The client did not open it. If the user refused, stop; otherwise show this link:")),
                Err(ElicitationError::CapabilityNotSupported) => return Err(self.link(message)),
                Err(_) => return Err(self.link("The client could not open it. Show the user this link, and call again:")),
            }
        }
        for _ in 0..5 {
            if row["status"] == "completed" {
                break;
            }
            let seen = text(&row, "seen");
            let moved = self.wait(&seen, 60_000).await?;
            if !moved.is_null() {
                row = moved;
            }
        }
        match (row["status"].as_str(), row["action"].as_str()) {
            (Some("completed"), Some("accept")) => Ok(row),
            (Some("completed"), _) => Err(Ended::Unfinished(format!("Not done: {} {}", text(&row, "action"), text(&row, "reason")))),
            _ => Err(self.link("Nothing was heard yet. Call again when the user is done:")),
        }
    }

    fn link(&self, message: &str) -> Ended {
        Ended::Unfinished(format!("{message} {}", self.url))
    }

    /// Takes the lease on what came back, which one call of all instances has at a time.
    async fn begin_claim(&self) -> Result<Value, Ended> {
        let body = self.with(json!({ "lease_ms": LEASE_MS, "claim_id": uuid::Uuid::new_v4() }));
        loop {
            match self.api.call("begin_claim", &body).await {
                Err(Ended::Refused { code, left_ms, .. }) if code == "leased" => sleep(Duration::from_millis(left_ms.min(1_000) + 1)).await,
                other => return other,
            }
        }
    }
}

#[derive(Clone)]
struct Reports {
    api: Api,
    users: Arc<Map<String, Value>>,
}

impl Reports {
    /// Who calls, as your own authorization says. Never take it from anything else.
    fn subject(&self, context: &RequestContext<RoleServer>) -> Option<String> {
        let given = context.extensions.get::<http::request::Parts>()?.headers.get("authorization")?.to_str().ok()?;
        Some(self.users.get(given.strip_prefix("Bearer ")?)?.as_str()?.to_owned())
    }

    async fn buy_report(&self, context: &RequestContext<RoleServer>, subject: &str) -> Result<String, Ended> {
        let checkout = variable("APP_CHECKOUT");
        let report = self.api.create(json!({
            "provider": "stripe", "kind": "payment", "subject": subject, "item": "report:2026", "expected": { "amount": 1050, "currency": "EUR" },
        }), |id, _| format!("{checkout}?reference={id}")).await?;
        report.ask(context, "The report costs 10.50 EUR.").await?;
        let claim = report.begin_claim().await?;
        // An instance that died after its work has left its result: it is given again, and nothing is done twice.
        if claim["state"] == "fulfilled" {
            return Ok(text(&claim, "result"));
        }
        let made = format!("Paid with {}.", text(&claim, "reference"));
        // Without confirm_claim, the report is found by each further call, and paid once.
        self.api.call("fulfil_claim", &report.with(json!({ "fence": claim["fence"], "result": made }))).await?;
        Ok(made)
    }

    async fn connect_account(&self, context: &RequestContext<RoleServer>, subject: &str) -> Result<String, Ended> {
        let (issuer, client) = (variable("APP_ISSUER"), variable("APP_CLIENT_ID"));
        let account = self.api.create(json!({ "provider": "demo", "kind": "oauth", "subject": subject, "pkce": true }), |_, return_url| {
            let query = [("response_type", "code"), ("client_id", &client), ("redirect_uri", return_url), ("scope", "openid profile")];
            url::Url::parse_with_params(&format!("{issuer}/auth"), query).expect("APP_ISSUER is a URL").into()
        }).await?;
        let row = account.ask(context, "Connect your Demo Account.").await?;
        // The claim is final before the code is sent: a code works once.
        account.begin_claim().await?;
        match self.exchange(&issuer, &client, &account.return_url, &row).await {
            Ok(name) => {
                self.api.call("fulfil_claim", &account.with(json!({}))).await?;
                Ok(format!("Connected the account of {name}."))
            }
            Err(_) => {
                self.api.call("release_claim", &account.with(json!({ "reason": "exchange_failed" }))).await?;
                Err(Ended::Unfinished("The account is not connected: call again.".into()))
            }
        }
    }

    /// Exchanges the code (RFC 6749 section 4.1.3), and asks whose account it is.
    async fn exchange(&self, issuer: &str, client: &str, return_url: &str, row: &Value) -> Result<String, reqwest::Error> {
        let form = [
            ("grant_type", "authorization_code"), ("code", &text(&row["result"], "code")), ("redirect_uri", return_url),
            ("client_id", client), ("code_verifier", &text(row, "code_verifier")),
        ];
        let tokens: Value = self.api.http.post(format!("{issuer}/token")).form(&form).send().await?.error_for_status()?.json().await?;
        let user: Value = self.api.http.get(format!("{issuer}/me")).bearer_auth(text(&tokens, "access_token")).send().await?.error_for_status()?.json().await?;
        Ok(text(&user, "name"))
    }
}

impl ServerHandler for Reports {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        let none = Arc::new(Map::from_iter([("type".to_owned(), json!("object"))]));
        Ok(ListToolsResult::with_all_items(vec![
            Tool::new("buy_report", "Buys the report.", none.clone()),
            Tool::new("connect_account", "Connects your Demo Account.", none),
        ]))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let Some(subject) = self.subject(&context) else {
            return Err(ErrorData::invalid_request("the access token is nobody's", None));
        };
        let done = match &*request.name {
            "buy_report" => self.buy_report(&context, &subject).await,
            "connect_account" => self.connect_account(&context, &subject).await,
            _ => return Err(ErrorData::invalid_params("no such tool", None)),
        };
        Ok(match done {
            Ok(said) => CallToolResult::success(vec![ContentBlock::text(said)]),
            Err(ended) => CallToolResult::error(vec![ContentBlock::text(ended.to_string())]),
        }.into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let reports = Reports {
        api: Api { http: reqwest::Client::new(), url: variable("URLMODE_API_URL"), key: variable("URLMODE_API_KEY") },
        users: Arc::new(serde_json::from_str(&variable("APP_USERS"))?),
    };
    let service = StreamableHttpService::new(move || Ok(reports.clone()), Arc::new(LocalSessionManager::default()), StreamableHttpServerConfig::default());
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{}", variable("PORT"))).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move { hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await });
    }
}
