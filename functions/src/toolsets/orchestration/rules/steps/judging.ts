/**
 * Blind judging for picks and votes: each judge sees the answers under letters, without agent names, and in a random
 * order that differs between judges. Source: docs/semantics.md#orchestration.
 */
import type { Hashing } from '../../../../kernel/ports.ts';
import type { RandomSource } from '../agents/scoring.ts';
import type { AnsweredCall } from '../calls/calling.ts';
import { fenced, type StepResult } from '../workflows/scope.ts';
import {
  type Ask,
  allFailed,
  askAll,
  type Ballot,
  failureWarnings,
  isValid,
  type ModeResult,
  modeResult,
  type Round,
} from './ask.ts';

interface Judging {
  readonly judges: readonly string[];
  /** Whether a fallback agent may replace a judge. */
  readonly replaceable: boolean;
  readonly prompt: string;
  readonly contributions: readonly StepResult[];
  readonly ask: Ask;
  readonly random: RandomSource;
}

/** Asks every judge for a ranking of the answers, and asks again if the judge's first reply contains no ranking. */
export async function judge({ judges, replaceable, prompt, contributions, ask, random }: Judging) {
  const asked = judges.map((name) => ({
    judge: name,
    shown: shuffled(contributions, random).map((one, index) => ({ ...one, letter: LETTERS.charAt(index) })),
  }));
  const judged = await Promise.all(
    asked.map(async ({ judge: name, shown }) => {
      const key = `judge:${name}`;
      const asking = judgesPrompt(prompt, shown);
      const first = await ask({ key, agent: name, prompt: asking, replaceable });
      const isUnread = isValid(first) && rankingIn(first.answer.text, shown.length) === undefined;
      // The second call has a different key, so that the journal can replay both calls.
      const again = isUnread
        ? await ask({
            key: `${key}:again`,
            agent: first.agent,
            prompt: secondPrompt(asking, first, shown),
            replaceable,
          })
        : undefined;
      const result = again ?? first;
      const letters = isValid(result) ? rankingIn(result.answer.text, shown.length) : undefined;
      const ballot: Ballot = {
        judge: name,
        shown: shown.map(({ letter, agent }) => ({ letter, agent })),
        ranking: letters?.flatMap((letter) => shown.find((one) => one.letter === letter)?.agent ?? []),
      };
      return { ballot, result, calls: again === undefined ? [first] : [first, again] };
    }),
  );
  return {
    ballots: judged.map(({ ballot }) => ballot),
    results: judged.map(({ result }) => result),
    calls: judged.flatMap(({ calls }) => calls),
  };
}

function judgesPrompt(prompt: string, shown: readonly { readonly letter: string; readonly output: string }[]): string {
  return [
    'Rank these answers to one task by how correct, complete and useful they are. Their authors and their order are irrelevant.',
    fenced('The task', prompt),
    ...shown.map(({ letter, output }) => fenced(`Answer ${letter}`, output)),
    `Give your reasons in a few sentences. End with one line that contains all the letters, best first. Example: ${exampleOf(shown)}`,
  ].join('\n\n');
}

function exampleOf(shown: readonly { readonly letter: string }[]): string {
  return shown
    .map(({ letter }) => letter)
    .reverse()
    .join(' > ');
}

/** Maximum part of the judge's first reply that the second prompt repeats. */
const MAX_REPEATED_CHARACTERS = 4000;

function secondPrompt(asked: string, { answer }: AnsweredCall, shown: readonly { readonly letter: string }[]): string {
  return [
    asked,
    fenced('Your first answer', answer.text.slice(-MAX_REPEATED_CHARACTERS)),
    `Your first answer has no line that ranks every letter once. Write only that line, best first. Example: ${exampleOf(shown)}`,
  ].join('\n\n');
}

/** Returns the items in random order, by a Fisher-Yates shuffle. */
export function shuffled<Item>(items: readonly Item[], random: RandomSource): Item[] {
  const left = [...items];
  return items.flatMap(() => left.splice(random.integer(left.length), 1));
}

/** Returns a random source that depends only on the seed, so that all instances of a run get the same order. */
export function seededRandom(hashing: Hashing, seed: string): RandomSource {
  let count = 0;
  return { integer: (below) => Number.parseInt(hashing.sha256(`${seed} ${count++}`).slice(0, 12), 16) % below };
}

/** Has a judge choose the best answer of a step. This answer becomes the output unchanged. */
export async function pick({
  judge: name,
  ...judging
}: Omit<Judging, 'judges' | 'replaceable'> & { readonly judge: string }): Promise<ModeResult> {
  const { contributions } = judging;
  const [only] = contributions;
  if (only === undefined) return modeResult([], 'No answers to pick from.');
  if (contributions.length === 1) return modeResult([], `Only ${only.agent} gave an answer.`, chosen(only));
  const { ballots, calls, results } = await judge({ ...judging, judges: [name], replaceable: true });
  const best = contributions.find(({ agent }) => agent === ballots[0]?.ranking?.[0]);
  const result = results[0];
  const by = result?.agent ?? name;
  const further = { furtherCalls: calls, ballots };
  if (best !== undefined) {
    const explanation = `${by} ranked the answers blindly: ${best.agent} is best.`;
    const warnings = result?.kind === 'answered' ? result.warnings : [];
    return modeResult([], explanation, { ...chosen(best), ...further, warnings, judged: true });
  }
  if (result === undefined || !isValid(result)) return modeResult([], `${name} could not judge the answers.`, further);
  const [drawn = only] = shuffled(contributions, judging.random);
  return modeResult([], `${by} gave no ranking; ${drawn.agent} was picked at random.`, {
    ...chosen(drawn),
    ...further,
    warnings: [`${by} gave no ranking of the answers, so one was picked at random.`],
  });
}

function chosen({ agent, output }: StepResult): Pick<ModeResult, 'output'> & { readonly winner: string } {
  return { output, winner: agent };
}

interface Vote extends Round {
  /** Available judges. Judges that gave no answer in this step are preferred. */
  readonly judges: readonly string[];
  readonly random: RandomSource;
  /** Returns an agent's capability for the role, from 0 to 1, which decides if rankings are tied. */
  readonly capability: (agent: string) => number;
}

/** Maximum length in characters of answers that are compared as texts, ignoring case and formatting. */
const SHORT = 120;

/** Chooses an answer: the majority's if the answers are short, otherwise the best in blind rankings. */
export async function vote(round: Vote): Promise<ModeResult> {
  const answers = await askAll(round);
  const valid = answers.filter(isValid);
  const [first] = valid;
  if (first === undefined) return allFailed(answers);
  const warnings = failureWarnings(answers);
  const decided = ({ agent, answer }: AnsweredCall, explanation: string, more: Partial<ModeResult> = {}) =>
    modeResult(answers, explanation, { output: answer.text, winner: agent, warnings, ...more });
  if (valid.length === 1) return decided(first, `${first.agent} gave the only valid answer.`);
  const majority = majorityOf(valid);
  if (majority !== undefined) {
    const names = majority.map(({ agent }) => agent).join(', ');
    const [winner = first] = majority;
    const explanation = `${majority.length} of ${valid.length} agents gave the same answer: ${names}.`;
    return decided(winner, explanation, { judged: true });
  }
  const { ballots, calls } = await judge({
    ...round,
    judges: judgesAmong(round.judges, valid),
    replaceable: false,
    contributions: valid.map(({ agent, answer }) => ({ agent, output: answer.text })),
  });
  const { winner, explanation, judged } = elected(valid, ballots, round);
  const silent = ballots
    .filter(({ ranking }) => ranking === undefined)
    .map((ballot) => `${ballot.judge} gave no ranking and was not counted.`);
  return decided(winner, explanation, { ballots, furtherCalls: calls, warnings: [...warnings, ...silent], judged });
}

/** Returns the judges that gave no answer or, if none of them is available, all agents that gave an answer. */
function judgesAmong(judges: readonly string[], valid: readonly AnsweredCall[]): readonly string[] {
  const candidates = valid.map(({ agent }) => agent);
  const others = judges.filter((name) => !candidates.includes(name));
  return others.length > 0 ? others : candidates;
}

/** Quotation marks and Markdown emphasis around an answer. AFTER also matches punctuation at the answer's end. */
const BEFORE = /^[\s"'`*_“”„‘’«»]+/u;
const AFTER = /[\s"'`*_“”„‘’«».,;:]+$/u;

/** Returns an answer in lowercase, without quotes, emphasis, final punctuation and extra white space. "-1" stays. */
export function normalized(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').replace(BEFORE, '').replace(AFTER, '');
}

/** Returns the equal short answers of more than half of the agents; undefined without such a majority. */
function majorityOf(valid: readonly AnsweredCall[]): readonly AnsweredCall[] | undefined {
  const groups = new Map<string, AnsweredCall[]>();
  for (const result of valid) {
    const text = normalized(result.answer.text);
    if (text.length > SHORT) return undefined;
    groups.set(text, [...(groups.get(text) ?? []), result]);
  }
  return [...groups.values()].find((group) => group.length > valid.length / 2);
}

function elected(valid: readonly AnsweredCall[], ballots: readonly Ballot[], { capability, random }: Vote) {
  const sum = (of: (ballot: Ballot) => number) => ballots.reduce((total, ballot) => total + of(ballot), 0);
  const rules: readonly (readonly [name: string, score: (agent: string) => number])[] = [
    ['points in blind rankings', (agent) => sum((ballot) => points(ballot, agent))],
    ['points from other agents', (agent) => sum((ballot) => (ballot.judge === agent ? 0 : points(ballot, agent)))],
    ['number of first places', (agent) => sum(({ ranking }) => (ranking?.[0] === agent ? 1 : 0))],
    ['capability for the role', capability],
  ];
  const tied: string[] = [];
  let left = shuffled(valid, random);
  for (const [name, score] of ballots.some(({ ranking }) => ranking) ? rules : rules.slice(-1)) {
    const best = Math.max(...left.map(({ agent }) => score(agent)));
    left = left.filter(({ agent }) => score(agent) === best);
    const [winner] = left;
    if (winner !== undefined && left.length === 1)
      return { winner, explanation: decisionText(winner, name, tied), judged: score !== capability };
    tied.push(name);
  }
  const [winner] = left;
  if (winner === undefined) throw new Error('A vote needs at least one answer.');
  return { winner, explanation: decisionText(winner, 'random choice', tied), judged: false };
}

function decisionText({ agent }: AnsweredCall, rule: string, tied: readonly string[]): string {
  const even = tied.length === 0 ? '' : ` Before that, it was a tie by ${tied.join(' and ')}.`;
  return `No answer has a majority. ${agent} won by ${rule}.${even}`;
}

/** Returns an agent's Borda points in a ranking: 0 for the last place, 1 for the place before it, and so on. */
function points({ ranking = [] }: Ballot, agent: string): number {
  const place = ranking.indexOf(agent);
  return place === -1 ? 0 : ranking.length - 1 - place;
}

/**
 * The following functions read the ranking in a judge's answer. Models write it as `B > A`, `Final ranking: **B >
 * A**`, `- Answer B → Answer A`, `{"ranking": ["B", "A"]}`, or as a numbered list.
 */

/** Names of the answers for judges. A step has fewer agents than there are letters. */
export const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Maximum length of a ranking line in characters. Longer lines are ignored, to limit the cost of parsing. */
const MAX_LINE_LENGTH = 400;

/** Number of lines that are read from the end of an answer, where judges write the ranking. */
const MAX_LINES = 500;

/** Returns the last ranking that contains every letter once. */
export function rankingIn(text: string, count: number): readonly string[] | undefined {
  const lines = text
    .trimEnd()
    .split(/[\n\r\u2028\u2029]+/)
    .slice(-MAX_LINES)
    .map(plain)
    .filter(Boolean);
  for (let end = lines.length; end > 0; end--) {
    const letters = inLine(lines[end - 1] ?? '') ?? inList(lines.slice(Math.max(0, end - count - 1), end), count);
    if (letters?.length === count && letters.toSorted().join('') === LETTERS.slice(0, count)) return letters;
  }
  return undefined;
}

/** Signs and words that mean "better than". */
const BETTER =
  /&gt;|\\(?:succ(?:eq)?|gt|rightarrow|to)\b|[-=–—]+>|[>›»⟩≻≫→⟶⇒⟹➔➜➝▸▶➡]|,?\s+(?:(?:is|are|was)\s+)?(?:(?:better|stronger|greater)\s+than|preferred\s+(?:to|over)|ahead\s+of|followed\s+by|beats|over|then)\s+(?=\S)/giu;

/** Markup of Markdown, LaTeX, HTML and JSON, and quotation marks. */
const MARKUP = /<\/?[a-z][^<>]*>|\\[a-z]+|\ufe0f|[*_`~#|$\\"'“”„‟‘’‚‛«‹[\]{}]/giu;

/** Matches a remark in parentheses, but not a single letter in parentheses, which is the name of an answer. */
const REMARK = /\((?!\s*[a-z]\s*\))[^()]*\)/giu;
const LIST_MARK = /^[\s>•·‣◦+-]+(?=\S)/u;

/** Returns a line without markup, and with `>` instead of all signs and words that mean "better than". */
function plain(line: string): string {
  if (line.length > MAX_LINE_LENGTH) return '';
  const signs = line.normalize('NFKC').replace(BETTER, ' > ');
  const bare = signs.replace(MARKUP, ' ').replace(REMARK, ' ').replace(/[()]/g, ' ');
  return bare
    .replace(LIST_MARK, '')
    .replace(/(?:\s*>)+\s*$/, '')
    .replace(/\s+/g, ' ')
    .trim();
}

const ITEM = String.raw`(?:(?:answer|option|response|candidate|solution|choice|reply|output)s?[\s:.-]*)?([a-z])(?![\p{L}\p{N}'’])`;

/** Matches items separated by `>`, after an optional label and before an optional reason. */
const CHAIN = new RegExp(
  String.raw`^(?:\d{1,2}[.)] )?(?:(?<label>[^>]*?(?:[:=–—]|\s-|\b(?:is|are|be|as|them|follows|thus|therefore|hence|so))[\s,]*)|[^>]*?\b(?:rank\w*|order|verdict)\s*>\s*)?(?<chain>${ITEM}(?:(?: ?> ?)+${ITEM})+)(?:[^\p{L}\p{N}>=?]*$|,? (?:because|since)\b|\s*[–—]|\s-\s)`,
  'iu',
);

/** Matches items separated by commas, which are a ranking only after a word such as "ranking" or "order". */
const COMMAS = new RegExp(
  String.raw`^[^>]*\b(?:rank\w*|order\w*|best to worst|best first)\b[^>]*?[:=\s](?<chain>${ITEM}(?: ?[,;] ?${ITEM})+)[\s.,;!]*$`,
  'iu',
);

/** Matches words in a label which show that the items are not, or no longer, the judge's ranking. */
const DENIAL = /\b(?:not?|nor|never|cannot|wrong|instead|example|unlike)\b|n't\b/iu;

function inLine(line: string): readonly string[] | undefined {
  const { chain, label = '' } = (CHAIN.exec(line) ?? COMMAS.exec(line))?.groups ?? {};
  if (chain === undefined || DENIAL.test(label)) return undefined;
  return [...chain.matchAll(new RegExp(String.raw`\b${ITEM}`, 'giu'))].map(([, letter = '']) => letter.toUpperCase());
}

/** Matches a line of a numbered list: `1. B` or `2nd place: Answer A`, with an optional reason. */
const NUMBERED = new RegExp(
  String.raw`^(?<number>\d{1,2})(?:st|nd|rd|th)?(?: place)?[\s.:)-]*${ITEM}(?<reason>.*)$`,
  'iu',
);

const HEADING = /\b(?:rank\w*|best to worst|best first|order)\b/iu;

/** Reads a ranking that is a numbered list. If its items have reasons, a heading must announce the ranking. */
function inList(lines: readonly string[], count: number): readonly string[] | undefined {
  const items = lines.slice(-count).map((line) => NUMBERED.exec(line));
  const isNumbered = items.every((item, index) => Number(item?.groups?.['number']) === index + 1);
  if (items.length < count || !isNumbered) return undefined;
  const heading = lines.at(-count - 1) ?? '';
  const isBare = items.every((item) => /^[\s.,;:!-]*$/.test(item?.groups?.['reason'] ?? ''));
  if (!isBare && (!HEADING.test(heading) || DENIAL.test(heading))) return undefined;
  return items.map((item) => item?.[2]?.toUpperCase() ?? '');
}
