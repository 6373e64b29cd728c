/** What an agent has answered, when it is known to its end. */
import type { ModelAnswer } from '../../domain/orchestration/ports.ts';
import { concluded, type Progress } from './failure.ts';

/** Models' names are shown, and come from outside. */
const NAME_LENGTH = 100;

interface Answered {
  readonly text: string;
  readonly model: string;
  /** False: cut at a limit. */
  readonly complete: boolean;
}

/** @throws ModelFailure where it says nothing, though nothing cut it */
export function modelAnswer({ text, model, complete }: Answered, progress: Progress): ModelAnswer {
  if (text === '' && complete) throw concluded('malformed', progress, 'an answer without text');
  return {
    // JSON can carry half of a surrogate pair. It is no text: no database or client need take it.
    text: text.replace(/\p{Surrogate}/gu, '\ufffd'),
    model: model.slice(0, NAME_LENGTH),
    usage: progress.usage ?? { inputTokens: 0, outputTokens: 0 },
    complete,
  };
}
