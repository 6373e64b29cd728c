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
