/** The security rules that hold are those of this clone: they are who may read and write what. */
import type { Result } from '../../google/failure.ts';
import { type Check, deployCommand, known, OK, type Site, waitsFor } from '../check.ts';

function check(
  database: string,
  released: (seen: Site['seen']) => Result<string | undefined>,
  declared: (rules: Site['declared']['rules']) => string,
  plain: (text: string) => string,
): Check {
  return {
    name: `rules of ${database}`,
    find: (site) =>
      known(site, released(site.seen), (rules) => {
        if (rules === undefined) return waitsFor(`no rules of ${database}`);
        if (plain(rules) === plain(declared(site.declared.rules))) return OK;
        return {
          state: 'problem',
          what: `the rules of ${database} that hold are not those of this clone`,
          why: 'they decide who may read and write what; somebody changed them by hand, or another version was deployed',
          mend: deployCommand(site.declared),
        };
      }),
  };
}

/** What stands for the same, with whatever line ends and spaces at its end. */
function asText(text: string): string {
  return text.replaceAll('\r\n', '\n').trim();
}

/** JSON is compared by what it says. Rules with comments are not ours. */
function asJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

export const ruleChecks: readonly Check[] = [
  check(
    'Firestore',
    ({ firestoreRules }) => firestoreRules,
    ({ firestore }) => firestore,
    asText,
  ),
  check(
    'the Realtime Database',
    ({ realtimeRules }) => realtimeRules,
    ({ realtime }) => realtime,
    asJson,
  ),
];
