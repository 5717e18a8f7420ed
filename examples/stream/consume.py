# Prints demand by topic as it is published, and comes back after a broken line where it was. Python 3, no packages.
# NODE=https://node.example TOKEN=asub_… [AFTER=0-42] python3 consume.py [figures to print]
import json, os, sys, urllib.request

node = os.environ.get("NODE", "http://127.0.0.1:4020")
token = os.environ.get("TOKEN", "")
left = float(sys.argv[1]) if len(sys.argv) > 1 else float("inf")
last_id = os.environ.get("AFTER", "")

while left > 0:
    headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {token}"}
    if last_id:
        headers["Last-Event-ID"] = last_id
    request = urllib.request.Request(f"{node}/v1/market/intent-stream", headers=headers)
    with urllib.request.urlopen(request) as response:
        event = {}
        for line in response:
            text = line.decode().rstrip("\n")
            name, _, value = text.partition(": ")
            event[name] = value
            if text:
                continue
            last_id = event.get("id", last_id)
            if event.get("event") == "tick":
                data = json.loads(event["data"])["data"]
                print(f'{data["ends_at"]} {data["cluster"]["name"]}: {data["demand"]} ± {data["error_95"]["demand"]}', flush=True)
                left -= 1
                if left <= 0:
                    break
            event = {}
