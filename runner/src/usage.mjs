// @ts-check
/** Usage of the runner. This file needs no installed package, so --help works in a new clone. */
export const USAGE = `Usage:
  muster-runner --repo <path> --url <mcp url> [options]

  --repo <path>            the repository to work on; your checkout is never touched
  --url <url>              Muster's MCP endpoint (or MUSTER_URL)
  --token <credential>     an agent's credential (better: MUSTER_TOKEN, which no process list shows)
  --for <owner|workspace>  whose tasks to run: only yours (owner), or also those of every worker (workspace)
  --allow-http             send the credential unencrypted to a hub on another machine
  --project <owner/name>   project name in tasks (default: the remote "origin", if it is on github.com)

  --once                   run one task and exit: 0 if it completed, 1 otherwise
  --task <id>              run this task and exit
  --concurrency <n>        number of parallel tasks (default: 1)
  --base <ref>             starting point of new branches, unless the task sets one (default: HEAD)
  --acceptance <command>   command that must succeed to complete a task, unless the task sets one
  --commands               also run the commands that check the results of these tasks
  --push                   fetch bases and task branches from "origin", and push task branches
  --agent <name>=<command> use another coding agent, whose command starts an Agent Client Protocol server (repeatable)
  --unsafe                 turn off the coding agents' permission checks

  --silence <seconds>      stop a coding agent that prints nothing for this long (default: 600)
  --lease <seconds>        lease of a task: without heartbeats, others can claim it after this time (default: 120)
  --worktrees <folder>     folder for worktrees (default: ~/.local/state/muster/worktrees)`;
