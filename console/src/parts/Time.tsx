/** Times relative to the present, by the server's clock. */
import { common } from '../../text/common.ts';
import { duration, exactMoment, fill, moment } from '../../ui/format.ts';
import { now } from '../live/time.ts';

const SECOND = 1000;
const DAY = 24 * 3_600_000;

/** `7 min ago`, `in 3 h`; after a day `Mon 19:22`, after a week the date. The exact time is in the title. */
export function Ago({ at }: { readonly at: Date }) {
  return (
    <time dateTime={at.toISOString()} title={exactMoment(at)}>
      {agoText(at, now.value)}
    </time>
  );
}

export function agoText(at: Date, present: number): string {
  const past = present - at.getTime();
  if (Math.abs(past) >= DAY) return moment(at, present);
  if (past < 0) return fill(common.in, { time: duration(-past) });
  return past < 5 * SECOND ? common.justNow : fill(common.ago, { time: duration(past) });
}

/** `14:02`, `Mon 19:22`, or the date. */
export function At({ at }: { readonly at: Date }) {
  return (
    <time dateTime={at.toISOString()} title={exactMoment(at)}>
      {moment(at, now.value)}
    </time>
  );
}

/** Time until an instant, with no word before it: `3 h 20 min`. */
export const Until = ({ at }: { readonly at: Date }) => <>{duration(Math.max(0, at.getTime() - now.value))}</>;
