/** A code task's log, opened at its end. Scrolling up loads earlier lines. It can be searched, and attempts folded. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { task as text } from '../../../text/task.ts';
import { exactTime, fill, number, plural } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { type LogChunk, logChunkDocument, type Task } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { latestLog, olderLog } from '../../live/queries.ts';
import { documents, readOnce } from '../../live/sources.ts';
import { ErrorNotice } from '../../parts/acting.tsx';
import { Bones } from '../../parts/Bones.tsx';
import { CopyButton } from '../../parts/Copy.tsx';
import { Shown } from '../../parts/Notice.tsx';
import { isClosed } from '../../parts/taskState.ts';
import { offsetsOf, useWindow } from '../../parts/VirtualList.tsx';
import { type Line, linesOf } from './lines.ts';
import { type LogRow, rowsOfLog } from './logRows.ts';

const LINE_HEIGHT = 22;

/** Distance from the top at which earlier lines are loaded. */
const NEAR_BEGINNING = 40 * LINE_HEIGHT;

export function Log({ task }: { readonly task: Task }) {
  const live = useLive(documents(latestLog(task), logChunkDocument));
  const older = useSignal<readonly LogChunk[]>([]);
  const trouble = useSignal<unknown>(undefined);
  const isReading = useSignal(false);

  async function readOlder(before: number) {
    if (isReading.peek()) return;
    isReading.value = true;
    try {
      const { rows } = await readOnce(olderLog(task, before), logChunkDocument);
      // If no rows were found, the log starts here, and no further rows are loaded.
      older.value = [...rows, ...older.value];
      isReading.value = rows.length === 0;
    } catch (error) {
      trouble.value = error;
    }
  }

  const rows = 'value' in live ? live.value.rows : [];
  const chunks = [...older.value, ...rows];
  const lines = useMemo(() => linesOf(chunks), [older.value, rows]);
  const first = Math.min(...chunks.map((chunk) => chunk.first_line));
  return (
    <Lines
      lines={lines}
      isLive={!isClosed(task)}
      live={live}
      before={chunks.length > 0 && first > 0 ? () => void readOlder(first) : undefined}
      trouble={trouble.value}
    />
  );
}

interface LinesProps {
  readonly lines: readonly Line[];
  readonly isLive: boolean;
  readonly live: Parameters<typeof Shown>[0]['live'];
  /** Loads earlier lines; undefined at the start of the log. */
  readonly before: (() => void) | undefined;
  readonly trouble: unknown;
}

function Lines({ lines, isLive, live, before, trouble }: LinesProps) {
  const words = useSignal('');
  const folded = useSignal<ReadonlySet<number>>(new Set());
  const rows = useMemo(() => rowsOfLog(lines, words.value, folded.value), [lines, words.value, folded.value]);
  const offsets = useMemo(() => offsetsOf(rows.map(() => LINE_HEIGHT)), [rows]);
  const { box, from, to, above, below } = useWindow(offsets, 'box');
  /** Whether the end of the log is visible. If so, it stays visible when new lines arrive. */
  const follows = useSignal(true);
  const firstShown = useRef(lines[0]?.number ?? 0);
  const { length } = rows;
  const first = lines[0]?.number ?? 0;
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const come = firstShown.current - first;
    firstShown.current = first;
    // Keeps the visible lines in place when earlier ones are inserted.
    if (come > 0) element.scrollTop += come * LINE_HEIGHT;
    else if (follows.value) element.scrollTop = element.scrollHeight;
  }, [length, first, follows.value]);
  const firstError = rows.findIndex((row) => row.kind === 'line' && row.line.level === 'error');
  const found = rows.filter(({ kind }) => kind === 'line').length;
  return (
    <section class="card" aria-label={text.log}>
      <div class="head">
        <h2>{text.log}</h2>
        {isLive ? (
          <span class="tag busy">{text.live}</span>
        ) : (
          <span class="soft">{plural(lines.length, text.lines)}</span>
        )}
        <span class="acts push">
          <label class="search">
            <span class="away">{text.searchLog}</span>
            <Icon of="search" />
            <input
              class="input"
              type="search"
              placeholder={text.searchLog}
              value={words.value}
              onInput={(event) => (words.value = event.currentTarget.value)}
            />
          </label>
          {words.value !== '' && (
            <span class="soft num" role="status">
              {fill(text.found, { n: number(found) })}
            </span>
          )}
          {firstError >= 0 && (
            <button
              type="button"
              class="b quiet small"
              onClick={() => {
                follows.value = false;
                box.current?.scrollTo({ top: firstError * LINE_HEIGHT });
              }}>
              {text.toFirstError}
            </button>
          )}
          {!follows.value && (
            <button type="button" class="b quiet small" onClick={() => (follows.value = true)}>
              {text.toLatest}
            </button>
          )}
          <CopyButton text={lines.map((line) => line.text).join('\n')} what={text.logText} />
        </span>
      </div>
      <Shown live={live} what={text.log.toLowerCase()} bones={<Bones lines={6} />}>
        {() =>
          lines.length === 0 ? (
            <p class="row soft">{text.noOutput}</p>
          ) : (
            <section
              class="log"
              ref={box}
              // biome-ignore lint/a11y/noNoninteractiveTabindex: people without a mouse scroll the focused element.
              tabIndex={0}
              aria-label={text.logLines}
              onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
                const isAtEnd = scrollHeight - scrollTop - clientHeight < LINE_HEIGHT * 2;
                if (isAtEnd !== follows.peek()) follows.value = isAtEnd;
                if (scrollTop < NEAR_BEGINNING) before?.();
              }}>
              <ol>
                <li class="gap" style={{ height: `${above}px` }} />
                {rows.slice(from, to).map((row) => (
                  <Row key={row.key} row={row} fold={(part) => (folded.value = toggled(folded.value, part))} />
                ))}
                <li class="gap" style={{ height: `${below}px` }} />
              </ol>
            </section>
          )
        }
      </Shown>
      {trouble !== undefined && <ErrorNotice of={trouble} />}
    </section>
  );
}

function toggled(parts: ReadonlySet<number>, part: number): ReadonlySet<number> {
  return new Set(parts.has(part) ? [...parts].filter((one) => one !== part) : [...parts, part]);
}

function Row({ row, fold }: { readonly row: LogRow; fold(part: number): void }) {
  if (row.kind === 'part') {
    return (
      <li class="part">
        <button type="button" aria-expanded={!row.isFolded} onClick={() => fold(row.part)}>
          <Icon of={row.isFolded ? 'next' : 'down'} small />
          {fill(text.part, { time: exactTime(row.at), n: number(row.count) })}
        </button>
      </li>
    );
  }
  const { number: n, at, level, text: words } = row.line;
  return (
    <li class={level}>
      <span>{n + 1}</span>
      <time>{exactTime(at)}</time>
      <span>
        <UserText text={words} limit={2000} />
      </span>
    </li>
  );
}
