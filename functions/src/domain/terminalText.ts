/** What programs and agents print, on its way to somebody who may look at it in a terminal, which obeys some of it. */

/** Colours, cursor movements, titles and the like. Source: ECMA-48. */
const CODES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~])/g;

/** Control characters beside tab and line feed, and those that reorder what is shown. */
const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Without the codes of terminals. */
export function withoutCodes(text: string): string {
  return text.replace(CODES, '');
}

/** Without the codes of terminals; any other control character can be seen, as U+FFFD. */
export function terminalText(text: string): string {
  return withoutCodes(text).replace(/\r\n?/g, '\n').replace(CONTROLS, '\ufffd');
}
