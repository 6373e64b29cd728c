/** Which tools a task may open to its agent without the runner's consent. */

/** A rule that names a tool and, in brackets, what of it: `Bash(npm test)`, `run_shell_command(git status)`. */
const RULE = /^(?<tool>[A-Za-z][\w.*-]*)(?:\((?<what>.*)\))?$/s;

const SHELLS = /^(?:bash|shell|powershell|run_?shell_?command|shelltool)$/i;

/** Only wildcards and white space: any command at all. */
const ANYTHING = /^[\s:*]*$/;

/**
 * Whoever creates a task says what the agent may use. A whole shell, or every tool, is as good as no permission
 * checks: that is for the runner to allow.
 * @returns the rules that only `--unsafe` allows
 */
export function unsafeRules(rules: readonly string[]): readonly string[] {
  return rules.filter((rule) => {
    const { tool = '', what } = RULE.exec(rule.trim())?.groups ?? {};
    if (tool === '' || tool.includes('*')) return true;
    return SHELLS.test(tool) && (what === undefined || ANYTHING.test(what));
  });
}
