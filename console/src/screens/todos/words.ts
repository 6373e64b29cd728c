/** Dates and repetitions in the words of a title. The server understands the same words. */
import { useEffect, useState } from 'preact/hooks';
import type { Meaning } from '../../../../functions/src/toolsets/todo/rules/words.ts';
import { todos as text } from '../../../text/todos.ts';
import { dayOf, fill } from '../../../ui/format.ts';
import { now } from '../../live/time.ts';
import { repetitionText } from './recurrenceText.ts';

type Words = typeof import('../../../../functions/src/toolsets/todo/rules/words.ts');

/** @throws Error with a message for the person, for example if a newer version has replaced the file */
async function load(): Promise<Words> {
  try {
    return await import('../../../../functions/src/toolsets/todo/rules/words.ts');
  } catch {
    throw new Error(text.wordsNotLoaded);
  }
}

/** Returns what the end of a title means, once the code that understands it has been loaded. */
export function useWords(title: string) {
  const [words, setWords] = useState<Words | undefined>(undefined);
  const isTyped = title !== '';
  useEffect(() => {
    const shows = (code: Words) => setWords(() => code);
    // If the code does not load, the page reports it when the person submits the title.
    if (isTyped) void load().then(shows, () => undefined);
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

/** Returns `Tue 1 Dec, 18:00` or `Every Monday at 09:00`. */
export function describeWords({ date, time, repetition }: Meaning): string {
  const at = time ?? DEFAULT_TIME;
  if (repetition !== undefined)
    return fill(text.repeatsAt, { repetition: sentenceCase(repetitionText(repetition)), time: at });
  return fill(text.dayAt, { day: dayOf(new Date(`${date}T00:00`)), time: at });
}

/** Time of a to-do whose words name only a day. Source: functions/src/toolsets/todo/rules/words.ts. */
const DEFAULT_TIME = '18:00';

const sentenceCase = (words: string): string => words.slice(0, 1).toUpperCase() + words.slice(1);
