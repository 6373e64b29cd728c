/** Environments for git: the user's environment without variables that select another repository or cause prompts. */

/**
 * Variables that select a repository or part of one, or change how git reads arguments. The first group is the output
 * of `git rev-parse --local-env-vars` without the variables of `git -c`, whose settings can be credentials.
 */
const SELECTING = [
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_CONFIG',
  'GIT_DIR',
  'GIT_GRAFT_FILE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_REPLACE_REF_BASE',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',

  'GIT_ATTR_SOURCE',
  'GIT_DEFAULT_HASH',
  'GIT_GLOB_PATHSPECS',
  'GIT_ICASE_PATHSPECS',
  'GIT_INDEX_VERSION',
  'GIT_LITERAL_PATHSPECS',
  'GIT_NAMESPACE',
  'GIT_NOGLOB_PATHSPECS',
  'GIT_QUARANTINE_PATH',
];

/** Returns the environment for the runner's git and for agents, without the variables that select a repository. */
export function withoutSelection(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SELECTING.includes(name.toUpperCase())));
}

/**
 * Returns an environment in which neither git, ssh nor Git Credential Manager prompts at the terminal. Keeps the
 * user's `GIT_ASKPASS`, with which CI systems pass credentials. Removes `SSH_ASKPASS`, which opens a window.
 */
export function withoutPrompts(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { SSH_ASKPASS: _, ...rest } = env;
  return {
    ...rest,
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'true',
    SSH_ASKPASS_REQUIRE: 'never',
    GCM_INTERACTIVE: 'never',
    LC_ALL: 'C',
  };
}

/** Returns the variable that makes ssh fail instead of prompting, unless the user has set an ssh command. */
export function sshWithoutPrompts(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return env['GIT_SSH_COMMAND'] || env['GIT_SSH'] ? {} : { GIT_SSH_COMMAND: 'ssh -o BatchMode=yes' };
}
