"""A worker that claims and completes tasks. It needs only Python's standard library.

    MUSTER_URL=https://<host>/mcp MUSTER_TOKEN=<credential> python3 worker.py <agent id>
"""
import json
import os
import sys
import urllib.request

URL, _, QUERY = os.environ["MUSTER_URL"].partition("?")
HEADERS = {"Authorization": "Bearer " + os.environ["MUSTER_TOKEN"], "Content-Type": "application/json"}


def call(method, **params):
    """Calls a tool by JSON-RPC and returns its result."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(f"{URL}/rpc?{QUERY}", body, HEADERS)
    with urllib.request.urlopen(request, timeout=60) as response:
        answer = json.load(response)
    if "error" in answer:
        sys.exit(f"{method}: {answer['error']['message']}")
    return answer["result"]


def work(description):
    """Replace this with your own work. This example counts the words of the task."""
    return f"{len(description.split())} words"


# Reasons for which there is no task now, but may be one later.
WAITS = ("all_blocked", "retry_later", "taken")

me = call("coordination.register_agent", agent_id=sys.argv[1], role="worker")["agent"]["id"]
while True:
    claim = call("coordination.claim_task", agent_id=me, start=True, wait_seconds=10)
    if "task" in claim:
        task = claim["task"]
        mine = {"agent_id": me, "task_id": task["id"], "claim_epoch": task["claim_epoch"]}
        call("coordination.complete_task", **mine, output=work(task["description"]))
        print(f"{task['id']}: done")
    elif claim["reason"] not in WAITS:
        print(claim["explanation"])
        break
