"""Evaluates two flags of a shop with nothing but Python's standard library."""

import json
import os
import sys
import urllib.error
import urllib.request

URL = os.environ.get("GUIDON_URL", "http://127.0.0.1:8080")


def evaluate(flag, default, user):
    """Returns the value of the flag for the user, or the default."""
    headers = {"Content-Type": "application/json", "X-Guidon-Namespace": "default"}
    if token := os.environ.get("GUIDON_TOKEN"):
        headers["Authorization"] = "Bearer " + token
    body = json.dumps({"context": user}).encode()
    request = urllib.request.Request(f"{URL}/ofrep/v1/evaluate/flags/{flag}", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=2) as response:
            result = json.load(response)
    except (OSError, ValueError) as error:  # OSError includes errors of HTTP
        print(f"using the default of {flag}: {error}", file=sys.stderr)
        return default
    value = result.get("value", default)
    return value if type(value) is type(default) else default


user = {"targetingKey": "u-3", "country": "SE", "orders": 2}
print("dark-mode:", evaluate("dark-mode", False, user))
print("payment-methods:", evaluate("payment-methods", "international", user))
