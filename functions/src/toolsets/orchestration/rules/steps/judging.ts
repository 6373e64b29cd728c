/**
 * Blind judging for picks and votes. Each judge sees the answers under letters, in its own random order, without
 * agent names. Source: docs/semantics.md#orchestration.
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
  /** The prompt that was answered. */
  readonly prompt: string;
  readonly contributions: readonly StepResult[];
  readonly ask: Ask;
  readonly random: RandomSource;
}

/** Asks every judge to rank the answers. */
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
      // The key differs, so that the journal distinguishes both calls if the step is executed again.
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
    /** Last call of each judge. */
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

/** Characters of a judge's first answer that it is shown again. */
const MAX_REPEATED_CHARACTERS = 4000;

/** Returns the second prompt, which asks for the missing ranking. */
function secondPrompt(asked: string, { answer }: AnsweredCall, shown: readonly { readonly letter: string }[]): string {
  return [
    asked,
    fenced('Your first answer', answer.text.slice(-MAX_REPEATED_CHARACTERS)),
    `Your first answer has no line that ranks every letter once. Write only that line, best first. Example: ${exampleOf(shown)}`,
  ].join('\n\n');
}

/** Returns the items in random order (Fisher-Yates shuffle). */
export function shuffled<Item>(items: readonly Item[], random: RandomSource): Item[] {
  const left = [...items];
  return items.flatMap(() => left.splice(random.integer(left.length), 1));
}

/** Returns a reproducible random source: an instance that takes over a run shows a judge the same order. */
export function seededRandom(hashing: Hashing, seed: string): RandomSource {
  let count = 0;
  return { integer: (below) => Number.parseInt(hashing.sha256(`${seed} ${count++}`).slice(0, 12), 16) % below };
}

/** Has a judge pick the best of a step's results, which becomes the output verbatim. */
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
  /** Available judges; those that gave no answer themselves are preferred. */
  readonly judges: readonly string[];
  readonly random: RandomSource;
  /** Returns an agent's capability for the role, from 0 to 1; it breaks ties. */
  readonly capability: (agent: string) => number;
}

/** Maximum length of answers that are compared verbatim, in characters after normalization. */
const SHORT = 120;

/** Returns the majority of short answers, or the best in a blind ranking; the explanation states the tie-break. */
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
  const further = { ballots, furtherCalls: calls, warnings: [...warnings, ...silent] };
  return decided(winner, explanation, { ...further, judged });
}

/** Returns the judges that gave no answer themselves, or else all agents with an answer. */
function judgesAmong(judges: readonly string[], valid: readonly AnsweredCall[]): readonly string[] {
  const candidates = valid.map(({ agent }) => agent);
  const others = judges.filter((name) => !candidates.includes(name));
  return others.length > 0 ? others : candidates;
}

/** Quotation marks and Markdown emphasis, and at the end also punctuation. */
const BEFORE = /^[\s"'`*_“”„‘’«»]+/u;
const AFTER = /[\s"'`*_“”„‘’«».,;:]+$/u;

/** Removes case, quotes, emphasis, final punctuation and repeated spaces. Signs stay: -1 is not 1, 50% is not 50. */
export function normalized(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').replace(BEFORE, '').replace(AFTER, '');
}

/** Returns the answers that more than half agree on, if all answers are short. */
function majorityOf(valid: readonly AnsweredCall[]): readonly AnsweredCall[] | undefined {
  const groups = new Map<string, AnsweredCall[]>();
  for (const result of valid) {
    const text = normalized(result.answer.text);
    if (text.length > SHORT) return undefined;
    groups.set(text, [...(groups.get(text) ?? []), result]);
  }
  return [...groups.values()].find((group) => group.length > valid.length / 2);
}

function elected(
  valid: readonly AnsweredCall[],
  ballots: readonly Ballot[],
  { capability, random }: Vote,
): { readonly winner: AnsweredCall; readonly explanation: string; readonly judged: boolean } {
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
    if (winner !== undefined && left.length === 1) {
      return { winner, explanation: decisionText(winner, name, tied), judged: score !== capability };
    }
    tied.push(name);
  }
  const [winner] = left;
  if (winner === undefined) throw new Error('A vote needs at least one answer.');
  return { winner, explanation: decisionText(winner, 'random choice', tied), judged: false };
}

function decisionText({ agent }: AnsweredCall, rule: string, tied: readonly string[]): string {
  const even = tied.length === 0 ? '' : ` Tied by ${tied.join(' and ')}.`;
  return `No majority. ${agent} won by ${rule}.${even}`;
}

/** Returns Borda points: 0 for the last of a ranking, 1 for the one before, and so on. */
function points({ ranking = [] }: Ballot, agent: string): number {
  const place = ranking.indexOf(agent);
  return place === -1 ? 0 : ranking.length - 1 - place;
}

/**
 * Reads the ranking in a judge's answer in the forms that models use: `B > A`, `Final ranking: **B > A**`,
 * `- Answer B → Answer A`, `{"ranking": ["B", "A"]}`, or a numbered list.
 */

/** One letter per answer: more than a step's maximum number of agents. */
export const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Maximum length of a ranking line; longer lines are prose. Limits the parsing cost. */
const MAX_LINE_LENGTH = 400;

/** Number of final lines that are read: a judge ends with its ranking. */
const MAX_LINES = 500;

/** Returns the last ranking that contains every letter once; undefined without one. */
export function rankingIn(text: string, count: number): readonly string[] | undefined {
  const lines = text
    .trimEnd()
    .split(/[\n\r\u2028\u2029]+/)
    .slice(-MAX_LINES)
    .map(plain)
    .filter(Boolean);
  for (let end = lines.length; end > 0; end--) {
    const letters = inLine(lines[end - 1] ?? '') ?? inList(lines.slice(Math.max(0, end - count - 1), end), count);
    if (letters && isComplete(letters, count)) return letters;
  }
  return undefined;
}

function isComplete(letters: readonly string[], count: number): boolean {
  return letters.length === count && letters.toSorted().join('') === LETTERS.slice(0, count);
}

/** Everything that means "better than", longer signs first. */
const BETTER =
  /&gt;|\\(?:succ(?:eq)?|gt|rightarrow|to)\b|[-=–—]+>|[>›»⟩≻≫→⟶⇒⟹➔➜➝▸▶➡]|,?\s+(?:(?:is|are|was)\s+)?(?:(?:better|stronger|greater)\s+than|preferred\s+(?:to|over)|ahead\s+of|followed\s+by|beats|over|then)\s+(?=\S)/giu;

/** Markdown, LaTeX, HTML and JSON markup, and quotation marks. */
const MARKUP = /<\/?[a-z][^<>]*>|\\[a-z]+|\ufe0f|[*_`~#|$\\"'“”„‟‘’‚‛«‹[\]{}]/giu;

/** A remark in parentheses; a single letter in parentheses is not a remark. */
const REMARK = /\((?!\s*[a-z]\s*\))[^()]*\)/giu;

/** Markers of list items, quotations and headings. */
const LIST_MARK = /^[\s>•·‣◦+-]+(?=\S)/u;

/** Returns a line without its markup, with `>` for every sign. */
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

/** A chain of items up to the end of the line or a reason, after at most a label. */
const CHAIN = new RegExp(
  String.raw`^(?:\d{1,2}[.)] )?(?:(?<label>[^>]*?(?:[:=–—]|\s-|\b(?:is|are|be|as|them|follows|thus|therefore|hence|so))[\s,]*)|[^>]*?\b(?:rank\w*|order|verdict)\s*>\s*)?(?<chain>${ITEM}(?:(?: ?> ?)+${ITEM})+)(?:[^\p{L}\p{N}>=?]*$|,? (?:because|since)\b|\s*[–—]|\s-\s)`,
  'iu',
);

/** A list with commas, which is a ranking only after a word that introduces one. */
const COMMAS = new RegExp(
  String.raw`^[^>]*\b(?:rank\w*|order\w*|best to worst|best first)\b[^>]*?[:=\s](?<chain>${ITEM}(?: ?[,;] ?${ITEM})+)[\s.,;!]*$`,
  'iu',
);

/** Marks the following text as not the judge's ranking, or as revoked. */
const DENIAL = /\b(?:not?|nor|never|cannot|wrong|instead|example|unlike)\b|n't\b/iu;

function inLine(line: string): readonly string[] | undefined {
  const { chain, label = '' } = (CHAIN.exec(line) ?? COMMAS.exec(line))?.groups ?? {};
  return chain === undefined || DENIAL.test(label) ? undefined : lettersIn(chain);
}

function lettersIn(chain: string): readonly string[] {
  return [...chain.matchAll(new RegExp(String.raw`\b${ITEM}`, 'giu'))].map(([, letter = '']) => letter.toUpperCase());
}

/** `1. B`, `2nd place: Answer A`; a reason may follow. */
const NUMBERED = new RegExp(
  String.raw`^(?<number>\d{1,2})(?:st|nd|rd|th)?(?: place)?[\s.:)-]*${ITEM}(?<reason>.*)$`,
  'iu',
);

const HEADING = /\b(?:rank\w*|best to worst|best first|order)\b/iu;

/** Reads a numbered list. Remarks can look like one: a list with reasons needs a heading that announces a ranking. */
function inList(lines: readonly string[], count: number): readonly string[] | undefined {
  const items = lines.slice(-count).map((line) => NUMBERED.exec(line));
  const isNumbered = items.every((item, index) => Number(item?.groups?.['number']) === index + 1);
  if (items.length < count || !isNumbered) return undefined;
  const heading = lines.at(-count - 1) ?? '';
  const isBare = items.every((item) => /^[\s.,;:!-]*$/.test(item?.groups?.['reason'] ?? ''));
  if (!isBare && (!HEADING.test(heading) || DENIAL.test(heading))) return undefined;
  return items.map((item) => item?.[2]?.toUpperCase() ?? '');
}
