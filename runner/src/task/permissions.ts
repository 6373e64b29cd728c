/** Decides which tools a task may allow its agent if the runner was not started with --unsafe. */

/** Rule: a tool and, in brackets, its restriction, as in `Bash(npm test)`, `run_shell_command(git status)`. */
const RULE = /^(?<tool>[A-Za-z][\w.*-]*)(?:\((?<what>.*)\))?$/s;
const SHELLS = /^(?:bash|shell|powershell|run_?shell_?command|shelltool)$/i;

/** Restrictions of only wildcards and white space, which match every command. */
const ANYTHING = /^[\s:*]*$/;

/** Programs that run the command in their arguments. A rule that names only such a program allows every command. */
const INTERPRETER =
  /^(?:(?:ba|da|z|k|c|tc|fi)?sh|busybox|env|command|exec|eval|sudo|doas|nohup|xargs|pwsh|powershell)(?:\.exe)?$/i;

export interface Rule {
  /** Name of the tool. Empty if the text is not a rule. */
  readonly tool: string;
  /** Text in the brackets. Undefined if the rule has no brackets. */
  readonly what: string | undefined;
}

/** Splits a rule into its tool and the text in its brackets. */
export function parseRule(text: string): Rule {
  const { tool = '', what } = RULE.exec(text.trim())?.groups ?? {};
  return { tool, what };
}

/** Returns whether the text in a rule's brackets restricts nothing. */
export function allowsAnything(what: string): boolean {
  return ANYTHING.test(what);
}

export function isShell(tool: string): boolean {
  return SHELLS.test(tool);
}

/**
 * Finds rules that allow a whole shell or every tool, and so turn off all permission checks. A task's creator sets
 * its rules, so the runner's owner must allow such rules explicitly.
 * @returns the rules that only `--unsafe` allows
 */
export function unsafeRules(rules: readonly string[]): readonly string[] {
  return rules.filter((rule) => {
    const { tool, what } = parseRule(rule);
    if (tool === '' || tool.includes('*')) return true;
    if (!isShell(tool)) return false;
    return what === undefined || allowsAnything(what) || isInterpreter(what);
  });
}

/** Returns whether a command has only interpreters, options and variables: `bash`, `sudo sh -c *` or `env A=1`. */
function isInterpreter(what: string): boolean {
  const words = what
    .replace(/[\s:*]+$/, '')
    .trim()
    .split(/\s+/);
  const [first = '', ...others] = words.map((word) => word.slice(word.lastIndexOf('/') + 1));
  return INTERPRETER.test(first) && others.every((word) => /^-|=/.test(word) || INTERPRETER.test(word));
}
