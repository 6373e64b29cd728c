/** Dates and repetitions in the words of a title. The server understands the same words. */
import { useEffect, useState } from 'preact/hooks';
import type { Meaning } from '../../../../functions/src/toolsets/todo/rules/words.ts';
import { now } from '../../live/time.ts';
import { dayOf } from '../../parts/dates.ts';
import { repetitionText } from './recurrenceText.ts';

type Words = typeof import('../../../../functions/src/toolsets/todo/rules/words.ts');

const load = (): Promise<Words> => import('../../../../functions/src/toolsets/todo/rules/words.ts');

/** Returns what the end of a title means, once the code that understands it has been loaded. */
export function useWords(title: string) {
  const [words, setWords] = useState<Words | undefined>(undefined);
  const isTyped = title !== '';
  useEffect(() => {
    if (isTyped) void load().then((code) => setWords(() => code));
  }, [isTyped]);
  const found = words && findWords(words, title);
  return { found, isMisunderstood: found === undefined && (words?.seemsToRepeat(title) ?? false) };
}

/** Returns what the end of a title means, also if the person submits it before the code has been loaded. */
export const understand = async (title: string) => findWords(await load(), title);

function findWords({ wordsAtEnd }: Words, title: string) {
  const instant = new Date(now.value);
  return wordsAtEnd(title, { instant, timezone: -instant.getTimezoneOffset() });
}

/** Returns `Due Tue 1 Dec at 18:00, because no time is given`, or `Comes every Monday at 09:00`. */
export function describeWords({ date, time, repetition }: Meaning): string {
  const at = time === undefined ? 'at 18:00, because no time is given' : `at ${time}`;
  if (repetition !== undefined) return `Comes ${repetitionText(repetition)} ${at}`;
  return `Due ${dayOf(new Date(`${date}T00:00`))} ${at}`;
}
