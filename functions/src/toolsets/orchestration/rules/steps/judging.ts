/**
 * Judging answers blindly, for a pick and a vote: a judge sees them under letters, in an order of its own, without the
 * names of their agents. Source: docs/semantics.md#orchestration.
 */
import type { Hashing } from '../../../../kernel/ports.ts';
import type { Chance } from '../agents/standing.ts';
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
  /** Whether another may judge in a judge's place. */
  readonly replaceable: boolean;
  /** What the answers answer. */
  readonly prompt: string;
  readonly contributions: readonly StepResult[];
  readonly ask: Ask;
  readonly chance: Chance;
}

/** Has every judge rank the answers. */
export async function judge({ judges, replaceable, prompt, contributions, ask, chance }: Judging) {
  const asked = judges.map((name) => ({
    judge: name,
    shown: shuffled(contributions, chance).map((one, index) => ({ ...one, letter: LETTERS.charAt(index) })),
  }));
  const judged = await Promise.all(
    asked.map(async ({ judge: name, shown }) => {
      const key = `judge:${name}`;
      const asking = judgesPrompt(prompt, shown);
      const first = await ask({ key, agent: name, prompt: asking, replaceable });
      const isUnread = isValid(first) && rankingIn(first.answer.text, shown.length) === undefined;
      // The key is another one, so that the journal tells both calls apart when the step is executed again.
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
    /** The last call of each judge. */
    results: judged.map(({ result }) => result),
    calls: judged.flatMap(({ calls }) => calls),
  };
}

function judgesPrompt(
  prompt: string,
  shown: readonly { readonly letter: string; readonly output: string }[],
): string {
  return [
    'Rank these answers to one task by how correct, complete and useful they are. Whose they are and in which order they stand says nothing about them.',
    fenced('The task', prompt),
    ...shown.map(({ letter, output }) => fenced(`Answer ${letter}`, output)),
    `Give your reasons in a few sentences. End with one line that has all the letters, best first: ${exampleOf(shown)}, for example.`,
  ].join('\n\n');
}

function exampleOf(shown: readonly { readonly letter: string }[]): string {
  return shown
    .map(({ letter }) => letter)
    .reverse()
    .join(' > ');
}

/** How much of a judge's first answer it is shown again, in characters. */
const SHOWN_AGAIN = 4000;

/** Asks a judge for the ranking that its first answer lacks. */
function secondPrompt(
  asked: string,
  { answer }: AnsweredCall,
  shown: readonly { readonly letter: string }[],
): string {
  return [
    asked,
    fenced('Your first answer', answer.text.slice(-SHOWN_AGAIN)),
    `Your first answer has no line that ranks every letter once. Write only that line, best first: ${exampleOf(shown)}, for example.`,
  ].join('\n\n');
}

/** Fisher and Yates. */
export function shuffled<Item>(items: readonly Item[], chance: Chance): Item[] {
  const left = [...items];
  return items.flatMap(() => left.splice(chance.integer(left.length), 1));
}

/** Unforeseeable, and the same for the same seed: an instance that takes a run over shows a judge the same order of answers. */
export function seededChance(hashing: Hashing, seed: string): Chance {
  let count = 0;
  return {
    integer: (below) => Number.parseInt(hashing.sha256(`${seed} ${count++}`).slice(0, 12), 16) % below,
  };
}

/** Has a judge pick the best of a step's results, which becomes the output word for word. */
export async function pick({
  judge: name,
  ...judging
}: Omit<Judging, 'judges' | 'replaceable'> & { readonly judge: string }): Promise<ModeResult> {
  const { contributions } = judging;
  const [only] = contributions;
  if (only === undefined) return modeResult([], 'There was nothing to pick from.');
  if (contributions.length === 1)
    return modeResult([], `${only.agent} was the only one with an answer.`, chosen(only));
  const { ballots, calls, results } = await judge({ ...judging, judges: [name], replaceable: true });
  const best = contributions.find(({ agent }) => agent === ballots[0]?.ranking?.[0]);
  const result = results[0];
  const by = result?.agent ?? name;
  const further = { furtherCalls: calls, ballots };
  if (best !== undefined) {
    const explanation = `${by} ranked the answers without knowing whose they were: ${best.agent} is best.`;
    const warnings = result?.kind === 'answered' ? result.warnings : [];
    return modeResult([], explanation, { ...chosen(best), ...further, warnings, judged: true });
  }
  if (result === undefined || !isValid(result))
    return modeResult([], `${name} could not judge the answers.`, further);
  const [drawn = only] = shuffled(contributions, judging.chance);
  return modeResult([], `${by} gave no ranking; ${drawn.agent} was drawn by lot.`, {
    ...chosen(drawn),
    ...further,
    warnings: [`${by} gave no ranking of the answers, so one was drawn by lot.`],
  });
}

function chosen({ agent, output }: StepResult): Pick<ModeResult, 'output'> & { readonly winner: string } {
  return { output, winner: agent };
}

interface Vote extends Round {
  /** Who can judge; those who have not answered themselves are preferred. */
  readonly judges: readonly string[];
  readonly chance: Chance;
  /** How good an agent is at what was asked, from 0 to 1: it breaks ties. */
  readonly capability: (agent: string) => number;
}

/** The longest answer that is compared as a whole, in characters after normalising. */
const SHORT = 120;

/** The majority of short answers, or what judges rank best blindly; the explanation says which rule has broken a tie. */
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
    const explanation = `${majority.length} of ${valid.length} gave the same answer: ${names}.`;
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
    .map((ballot) => `${ballot.judge} gave no ranking, and does not count.`);
  const further = { ballots, furtherCalls: calls, warnings: [...warnings, ...silent] };
  return decided(winner, explanation, { ...further, judged });
}

/** Those who have not answered themselves, where there are any; otherwise everybody who has. */
function judgesAmong(judges: readonly string[], valid: readonly AnsweredCall[]): readonly string[] {
  const candidates = valid.map(({ agent }) => agent);
  const others = judges.filter((name) => !candidates.includes(name));
  return others.length > 0 ? others : candidates;
}

/** Quotation marks and what Markdown emphasises with; and after an answer what ends a sentence. */
const BEFORE = /^[\s"'`*_“”„‘’«»]+/u;
const AFTER = /[\s"'`*_“”„‘’«».,;:]+$/u;

/** Without case, quotation marks, emphasis, full stop and repeated spaces. Signs stay: -1 is not 1, and 50% is not 50. */
export function normalised(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').replace(BEFORE, '').replace(AFTER, '');
}

/** The answers that more than half of all agree on, where all are short. */
function majorityOf(valid: readonly AnsweredCall[]): readonly AnsweredCall[] | undefined {
  const groups = new Map<string, AnsweredCall[]>();
  for (const result of valid) {
    const text = normalised(result.answer.text);
    if (text.length > SHORT) return undefined;
    groups.set(text, [...(groups.get(text) ?? []), result]);
  }
  return [...groups.values()].find((group) => group.length > valid.length / 2);
}

function elected(
  valid: readonly AnsweredCall[],
  ballots: readonly Ballot[],
  { capability, chance }: Vote,
): { readonly winner: AnsweredCall; readonly explanation: string; readonly judged: boolean } {
  const sum = (of: (ballot: Ballot) => number) => ballots.reduce((total, ballot) => total + of(ballot), 0);
  const rules: readonly (readonly [name: string, score: (agent: string) => number])[] = [
    ['the points of blind rankings', (agent) => sum((ballot) => points(ballot, agent))],
    [
      'the points that others gave',
      (agent) => sum((ballot) => (ballot.judge === agent ? 0 : points(ballot, agent))),
    ],
    ['the number of first places', (agent) => sum(({ ranking }) => (ranking?.[0] === agent ? 1 : 0))],
    ['what the agents are known to be capable of', capability],
  ];
  const tied: string[] = [];
  let left = shuffled(valid, chance);
  for (const [name, score] of ballots.some(({ ranking }) => ranking) ? rules : rules.slice(-1)) {
    const best = Math.max(...left.map(({ agent }) => score(agent)));
    left = left.filter(({ agent }) => score(agent) === best);
    const [winner] = left;
    if (winner !== undefined && left.length === 1) {
      return { winner, explanation: told(winner, name, tied), judged: score !== capability };
    }
    tied.push(name);
  }
  const [winner] = left;
  if (winner === undefined) throw new Error('A vote without an answer.');
  return { winner, explanation: told(winner, 'lot', tied), judged: false };
}

function told({ agent }: AnsweredCall, rule: string, tied: readonly string[]): string {
  const even = tied.length === 0 ? '' : ` It was even by ${tied.join(', and by ')}.`;
  return `No majority. ${agent} won by ${rule}.${even}`;
}

/** Borda: the last of a ranking gets 0 points, the one before it 1, and so on. A ballot without a ranking does not count. */
function points({ ranking = [] }: Ballot, agent: string): number {
  const place = ranking.indexOf(agent);
  return place === -1 ? 0 : ranking.length - 1 - place;
}

/**
 * Reads the ranking in a judge's answer, in the forms in which models write one: `B > A`, `Final ranking: **B > A**`,
 * `- Answer B → Answer A`, `{"ranking": ["B", "A"]}`, or a numbered list. Pure.
 */

/** Letters are enough for the most agents that a step may have. */
export const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Longer lines are prose. It bounds the cost of reading, too. */
const LONGEST_LINE = 400;

/** A judge ends with its ranking: what stands further in front is not looked at. */
const MOST_LINES = 500;

/** Returns the last ranking that has every letter once; undefined if there is none. */
export function rankingIn(text: string, count: number): readonly string[] | undefined {
  const lines = text
    .trimEnd()
    .split(/[\n\r\u2028\u2029]+/)
    .slice(-MOST_LINES)
    .map(plain)
    .filter(Boolean);
  for (let end = lines.length; end > 0; end--) {
    const letters =
      inLine(lines[end - 1] ?? '') ?? inList(lines.slice(Math.max(0, end - count - 1), end), count);
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

/** Marks of Markdown, LaTeX, HTML and JSON, and quotation marks. */
const MARKUP = /<\/?[a-z][^<>]*>|\\[a-z]+|\ufe0f|[*_`~#|$\\"'“”„‟‘’‚‛«‹[\]{}]/giu;

/** A remark in brackets; a letter in brackets is no remark. */
const REMARK = /\((?!\s*[a-z]\s*\))[^()]*\)/giu;

/** The marks of a list, a quotation or a heading. */
const LIST_MARK = /^[\s>•·‣◦+-]+(?=\S)/u;

/** Returns a line without its markup, with `>` for every sign. */
function plain(line: string): string {
  if (line.length > LONGEST_LINE) return '';
  const signs = line.normalize('NFKC').replace(BETTER, ' > ');
  const bare = signs.replace(MARKUP, ' ').replace(REMARK, ' ').replace(/[()]/g, ' ');
  return bare
    .replace(LIST_MARK, '')
    .replace(/(?:\s*>)+\s*$/, '')
    .replace(/\s+/g, ' ')
    .trim();
}

const ITEM = String.raw`(?:(?:answer|option|response|candidate|solution|choice|reply|output)s?[\s:.-]*)?([a-z])(?![\p{L}\p{N}'’])`;

/** A chain of items to the end of the line, but for a reason; in front of it at most a label. */
const CHAIN = new RegExp(
  String.raw`^(?:\d{1,2}[.)] )?(?:(?<label>[^>]*?(?:[:=–—]|\s-|\b(?:is|are|be|as|them|follows|thus|therefore|hence|so))[\s,]*)|[^>]*?\b(?:rank\w*|order|verdict)\s*>\s*)?(?<chain>${ITEM}(?:(?: ?> ?)+${ITEM})+)(?:[^\p{L}\p{N}>=?]*$|,? (?:because|since)\b|\s*[–—]|\s-\s)`,
  'iu',
);

/** The same with commas, which are a ranking only behind a word that says so. */
const COMMAS = new RegExp(
  String.raw`^[^>]*\b(?:rank\w*|order\w*|best to worst|best first)\b[^>]*?[:=\s](?<chain>${ITEM}(?: ?[,;] ?${ITEM})+)[\s.,;!]*$`,
  'iu',
);

/** Says that what follows is no ranking of the judge's, or not any more. */
const DENIAL = /\b(?:not?|nor|never|cannot|wrong|instead|example|unlike)\b|n't\b/iu;

function inLine(line: string): readonly string[] | undefined {
  const { chain, label = '' } = (CHAIN.exec(line) ?? COMMAS.exec(line))?.groups ?? {};
  return chain === undefined || DENIAL.test(label) ? undefined : lettersIn(chain);
}

function lettersIn(chain: string): readonly string[] {
  return [...chain.matchAll(new RegExp(String.raw`\b${ITEM}`, 'giu'))].map(([, letter = '']) =>
    letter.toUpperCase(),
  );
}

/** `1. B`, `2nd place: Answer A`; a reason may follow. */
const NUMBERED = new RegExp(
  String.raw`^(?<number>\d{1,2})(?:st|nd|rd|th)?(?: place)?[\s.:)-]*${ITEM}(?<reason>.*)$`,
  'iu',
);

const HEADING = /\b(?:rank\w*|best to worst|best first|order)\b/iu;

/** Reads a numbered list of so many lines. Remarks look like one: where it has reasons, its heading must say that it ranks. */
function inList(lines: readonly string[], count: number): readonly string[] | undefined {
  const items = lines.slice(-count).map((line) => NUMBERED.exec(line));
  const isNumbered = items.every((item, index) => Number(item?.groups?.['number']) === index + 1);
  if (items.length < count || !isNumbered) return undefined;
  const heading = lines.at(-count - 1) ?? '';
  const isBare = items.every((item) => /^[\s.,;:!-]*$/.test(item?.groups?.['reason'] ?? ''));
  if (!isBare && (!HEADING.test(heading) || DENIAL.test(heading))) return undefined;
  return items.map((item) => item?.[2]?.toUpperCase() ?? '');
}
