import { withoutSelection } from '../git/environment.ts';

/**
 * Returns the environment of coding agents and acceptance commands: the runner's without its credential, without what
 * tells Claude Code that it runs inside another one, and without variables that select a git repository.
 */
export function agentEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { MUSTER_TOKEN: _, CLAUDECODE: __, CLAUDE_CODE_ENTRYPOINT: ___, ...rest } = env;
  return withoutSelection(rest);
}
