/** Checks that the released security rules are those of this clone. */
import type { Result } from '../../google/failure.ts';
import { type Check, deployCommand, known, problemUnless, type Site, waitsFor } from '../check.ts';

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
        return problemUnless(plain(rules) === plain(declared(site.declared.rules)), {
          what: `the released rules of ${database} differ from this clone's`,
          why: 'the rules control access to data; someone changed them by hand or deployed another version',
          fix: deployCommand(site.declared),
        });
      }),
  };
}

/** Returns rules without trailing white space, and with the same line ends on every system. */
function asText(text: string): string {
  return text.replaceAll('\r\n', '\n').trim();
}

/** Returns the rules in a normal form for comparison. They are parsed as JSON, because Muster's have no comments. */
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
