/** A coding task's log, opened at its end; what was before is there as one scrolls up. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { logChunkDocument, type Task } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { latestLog } from '../../live/queries.ts';
import { documents } from '../../live/sources.ts';
import { timeOfDay } from '../../parts/dates.ts';
import { Card, Shown } from '../../parts/Notice.tsx';
import { useWindow } from '../../parts/Windowed.tsx';
import { Words } from '../../parts/Words.tsx';
import { type Line, linesOf } from './lines.ts';

const LINE_HEIGHT = 20;

export function Log({ task }: { readonly task: Task }) {
  const live = useLive(documents(latestLog(task), logChunkDocument));
  return (
    <Card title="Log">
      <Shown live={live}>
        {({ rows }) => {
          const lines = linesOf(rows);
          return lines.length === 0 ? <p class="soft">It has said nothing yet.</p> : <Lines lines={lines} />;
        }}
      </Shown>
    </Card>
  );
}

function Lines({ lines }: { readonly lines: readonly Line[] }) {
  const { box, from, to, above, below } = useWindow(lines.length, LINE_HEIGHT);
  /** Whether the end is looked at, which new lines then keep in view. */
  const follows = useSignal(true);
  const { length } = lines;
  useLayoutEffect(() => {
    const element = box.current;
    if (element !== null && follows.value) element.scrollTop = element.scrollHeight;
  }, [length, follows.value]);
  const firstError = lines.findIndex(({ level }) => level === 'error');
  return (
    <>
      <p class="acts">
        {firstError >= 0 && (
          <button
            type="button"
            class="plain"
            onClick={() => {
              follows.value = false;
              box.current?.scrollTo({ top: firstError * LINE_HEIGHT });
            }}
          >
            To the first error
          </button>
        )}
        {!follows.value && (
          <button type="button" class="plain" onClick={() => (follows.value = true)}>
            To the end
          </button>
        )}
      </p>
      <section
        class="log"
        ref={box}
        aria-label="Lines of the log"
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          const isAtEnd = scrollHeight - scrollTop - clientHeight < LINE_HEIGHT * 2;
          if (isAtEnd !== follows.peek()) follows.value = isAtEnd;
        }}
      >
        <div style={{ height: `${above}px` }} />
        {lines.slice(from, to).map((line) => (
          <p key={line.number} class={`line ${line.level}`}>
            <span class="number">{line.number + 1}</span> <time>{timeOfDay(line.at)}</time>{' '}
            <Words text={line.text} most={2000} />
          </p>
        ))}
        <div style={{ height: `${below}px` }} />
      </section>
    </>
  );
}
