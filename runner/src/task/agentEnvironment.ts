import { withoutSelection } from '../git/environment.ts';

/** Variables of the runner itself, and of a Claude Code or Codex in which the runner was started. */
const REMOVED = /^(?:MUSTER_TOKEN|CLAUDECODE|CLAUDE_CODE_ENTRYPOINT|CODEX_(?!HOME$|API_KEY$).*)$/;

/**
 * Returns the environment of coding agents and acceptance commands: the runner's environment without its credential,
 * the variables of a surrounding coding agent, and the variables that select a git repository.
 */
export function agentEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return withoutSelection(Object.fromEntries(Object.entries(env).filter(([name]) => !REMOVED.test(name))));
}
