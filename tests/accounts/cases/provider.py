"""A small provider of OpenID Connect, by real HTTP: discovery, authorization code with PKCE, ID tokens."""

import base64
import hashlib
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "schedviz", "a client's secret"


class Provider:
    def __init__(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "1", "use": "sig"})
        self.signing_key = self.key
        """Another key, which makes wrong signatures."""
        self.claims: dict[str, Any] = {"sub": "7", "preferred_username": "ada"}
        """The claims of the person who logs in, and the changes of a right ID token."""
        self._codes: dict[str, dict[str, str]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def authorize(self, address: str) -> str:
        """What the browser does at the provider: log in there. Returns the address to return to."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(8)
        self._codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def _token(self, form: dict[str, str], authorization: str) -> dict[str, Any] | None:
        asked = self._codes.pop(form.get("code", ""), None)
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if not asked or authorization != f"Basic {basic}" or challenge != asked["code_challenge"]:
            return None
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 60,
            "nonce": asked["nonce"],
            **self.claims,
        }
        token = jwt.encode({"alg": "RS256", "kid": "1"}, claims, self.signing_key)
        return {"access_token": "x", "token_type": "Bearer", "expires_in": 60, "id_token": token}

    def _handler(provider) -> type[BaseHTTPRequestHandler]:  # noqa: N805 (self is the handler's)
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                url = provider.url
                answers: dict[str, object] = {
                    "/.well-known/openid-configuration": {
                        "issuer": url,
                        "authorization_endpoint": f"{url}/authorize",
                        "token_endpoint": f"{url}/token",
                        "jwks_uri": f"{url}/keys",
                        "id_token_signing_alg_values_supported": ["RS256"],
                    },
                    "/keys": {"keys": [provider.key.as_dict(private=False)]},
                }
                self._answer(answers.get(self.path))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = {name: values[0] for name, values in parse_qs(body).items()}
                self._answer(provider._token(form, self.headers.get("Authorization", "")))

            def _answer(self, content: object) -> None:
                self.send_response(200 if content else 400)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(content or {"error": "invalid_grant"}).encode())

            def log_message(self, *_: object) -> None:
                """Nothing is logged."""

        return Handler
