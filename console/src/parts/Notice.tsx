/** Notices about a part of the page: loading, offline, no access, empty. */
import type { ComponentChildren } from 'preact';
import { relisten } from '../live/live.ts';
import type { Live } from '../live/states.ts';
import { timeOfDay } from './dates.ts';

interface ShownProps<Value> {
  readonly live: Live<Value>;
  readonly children: (value: Value) => ComponentChildren;
}

/** Shows loaded data, or explains why the data is not shown. */
export function Shown<Value>({ live, children }: ShownProps<Value>) {
  if (live.state === 'live') return <>{children(live.value)}</>;
  if (live.state === 'stale') {
    return (
      <>
        <p class="notice" role="status">
          Reconnecting. This is as of {timeOfDay(live.asOf)}.
        </p>
        {children(live.value)}
      </>
    );
  }
  return <Absent live={live} />;
}

export function Absent({ live }: { readonly live: Live<unknown> }) {
  if (live.state === 'denied') {
    return (
      <p class="notice denied" role="status">
        You have no access to this. Ask a leader of the workspace.
      </p>
    );
  }
  if (live.state === 'failed') {
    return (
      <p class="notice error" role="alert">
        This cannot be shown: {live.why}{' '}
        <button type="button" class="plain" onClick={relisten}>
          Try again
        </button>
      </p>
    );
  }
  return <p class="notice loading">Loading</p>;
}

/** Shows that a list is empty, and what the person can do next. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>
        <strong>{title}</strong>
      </p>
      {children}
    </div>
  );
}

interface CardProps {
  readonly title: string;
  /** A number, or a text such as `50+` if more rows exist. */
  readonly count?: number | string | undefined;
  readonly children: ComponentChildren;
}

export function Card({ title, count, children }: CardProps) {
  return (
    <section class="card" aria-label={title}>
      <h2>
        {title}
        {count !== undefined && <span class="count">{count}</span>}
      </h2>
      {children}
    </section>
  );
}
