import { withoutSelection } from '../git/environment.ts';

/**
 * Returns the environment of coding agents and acceptance commands: the runner's environment without its credential,
 * the variables of a surrounding Claude Code, and the variables that select a git repository.
 */
export function agentEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { MUSTER_TOKEN: _, CLAUDECODE: __, CLAUDE_CODE_ENTRYPOINT: ___, ...rest } = env;
  return withoutSelection(rest);
}
