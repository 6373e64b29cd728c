/** Compares the effects of one request with the limits that apply to every request. */
import assert from 'node:assert/strict';
import { type Bill, NOTHING, plus } from '../../../bench/wire/bill.ts';
import type { MeteredCall } from '../../../bench/wire/meter.ts';
import { assertCivil } from '../../e2e/support/civility.ts';
import { isRecord } from '../../e2e/support/clients.ts';
import type { HttpResponse } from '../../e2e/support/http.ts';
import type { Cost } from './cost.ts';
import { MEBIBYTES } from './target.ts';

const LIMITS = { cpuMs: 2000, grownMebibytes: 64, answerBytes: 1024 * 1024 };

/** Size of a response without its contents. The maximum size applies to the contents. */
const AROUND_BYTES = 1024;

export interface Attack {
  readonly tool: string;
  readonly sent: string;
  readonly answer: HttpResponse;
  readonly cost: Cost;
  readonly bill: Bill;
  /** Whether the request changed anything outside Firestore. The bill covers only Firestore. */
  readonly changedElsewhere: boolean;
}

/** Returns the total bill of all calls except Listen calls, which write nothing. See bench/wire/meter.ts. */
export function billOf(calls: readonly MeteredCall[]): Bill {
  return calls.filter(({ method }) => method !== 'Listen').reduce((sum, call) => plus(sum, call.bill), NOTHING);
}

/** Returns a description of each limit that the request exceeded. */
export function faultsOf(attack: Attack): readonly string[] {
  const { tool, sent, answer, cost, bill, changedElsewhere } = attack;
  const written = bill.writes + bill.deletes;
  const faults = [
    ...uncivil(answer, sent),
    ...over('ms of the processor', cost.cpuMs, LIMITS.cpuMs),
    ...over('MiB more', cost.grownMebibytes, LIMITS.grownMebibytes),
    ...over('MiB in all', cost.peakMebibytes, MEBIBYTES),
    ...over('bytes of answer', Buffer.byteLength(answer.text), LIMITS.answerBytes + AROUND_BYTES),
    ...(isRefusal(answer) && written > 0 ? [`was refused and wrote ${written} documents`] : []),
    ...(isRefusal(answer) && changedElsewhere ? ['was refused and changed data or a repository'] : []),
  ];
  return faults.map((fault) => `${tool} ${fault}: ${shortened(sent)} → ${shortened(answer.text)}`);
}

function over(of: string, used: number, limit: number): readonly string[] {
  return used > limit ? [`took ${Math.round(used)} ${of}, of ${limit} at most`] : [];
}

function uncivil(answer: HttpResponse, sent: string): readonly string[] {
  try {
    assertCivil(answer, sent);
    return [];
  } catch (error) {
    assert.ok(error instanceof Error);
    return [`was answered badly (HTTP ${answer.status})`];
  }
}

export function isRefusal({ status, text, json }: HttpResponse): boolean {
  if (status >= 400 || !isRecord(json)) return true;
  // The tool that starts a run stores the run even if it fails, and returns its id. Such a call was not rejected.
  if (/runId \\+"run-/.test(text)) return false;
  const { result } = json;
  return !isRecord(result) || result['isError'] === true;
}

/** Collects, for a report, the requests that came nearest to a limit. */
export class MostExpensive {
  private readonly kept: Attack[] = [];
  private readonly count: number;

  constructor(count: number) {
    this.count = count;
  }

  add(attack: Attack): void {
    this.kept.push(attack);
    this.kept.sort((one, other) => shareOf(other.cost) - shareOf(one.cost));
    this.kept.splice(this.count);
  }

  get report(): string {
    const rows = this.kept.map(({ tool, sent, answer, cost, bill }) =>
      [
        `${cost.cpuMs.toFixed(0)} ms`.padStart(8),
        `${cost.grownMebibytes.toFixed(1)} MiB`.padStart(10),
        `${bill.reads} read`.padStart(9),
        `${Buffer.byteLength(sent)} in`.padStart(11),
        `${Buffer.byteLength(answer.text)} out`.padStart(11),
        `  ${tool} ${shortened(sent)}`,
      ].join(' '),
    );
    return `The dearest ${this.kept.length} requests:\n${rows.join('\n')}`;
  }
}

function shareOf({ cpuMs, grownMebibytes }: Cost): number {
  return Math.max(cpuMs / LIMITS.cpuMs, grownMebibytes / LIMITS.grownMebibytes);
}

const SHOWN = 240;

function shortened(text: string): string {
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN / 2)} … ${text.slice(-SHOWN / 2)}` : text;
  return shown.replace(/[^\x20-\x7e]/g, (character) => JSON.stringify(character).slice(1, -1));
}
