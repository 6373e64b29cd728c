/** Erasure in the Realtime Database: removes a person's own nodes, and replaces the person in all other nodes. */
import type { Database, DataSnapshot } from 'firebase-admin/database';
import { keyOf, nameOfKey } from '../../../functions/src/kernel/ids.ts';
import {
  ACCESS_PEOPLE,
  BUS,
  busPath,
  COMMITS,
  changeNode,
  DELIVERIES,
  devicesPath,
  FREE_FORM_ROOTS,
  LIMITS,
  limitPath,
  METRICS_AGENTS,
  NOTIFICATIONS,
  notificationsPath,
  PRESENCE,
  TASK_QUEUE,
  taskUpdatesPath,
  UNREADABLE,
  WORKSPACE_QUEUES,
} from '../../../functions/src/kernel/realtime/database.ts';
import { forEach } from '../../operator/documents.ts';
import { childrenOf } from '../../rebuild/rebuilding.ts';
import type { Report } from './report.ts';
import type { Traces } from './traces.ts';

export interface ErasingRealtime {
  readonly realtime: Database;
  readonly traces: Traces;
  readonly report: Report;
  readonly isDry: boolean;
  readonly logs: ReadonlySet<string>;
}

const OWN: readonly ((uid: string) => string)[] = [limitPath, taskUpdatesPath, notificationsPath, devicesPath];

/** Other nodes that can name a person. Access data is missing here, because it is derived from Firestore. */
const ELSEWHERE: readonly string[] = [
  ...FREE_FORM_ROOTS,
  TASK_QUEUE,
  WORKSPACE_QUEUES,
  PRESENCE,
  LIMITS,
  NOTIFICATIONS,
  DELIVERIES,
  COMMITS,
  BUS,
  UNREADABLE,
  METRICS_AGENTS,
];

/** Number of nodes per page. It is small, because a node can be large. */
const NODES_AT_ONCE = 20;

export async function eraseInRealtime(erasing: ErasingRealtime): Promise<void> {
  const { realtime, traces, report, isDry, logs } = erasing;
  for (const path of [...OWN.map((own) => own(traces.uid)), ...[...logs].map(busPath)]) {
    if (!(await realtime.ref(path).get()).exists()) continue;
    if (!isDry) await realtime.ref(path).remove();
    report.add('deleted', path.split('/')[0] ?? path);
  }
  for (const list of ELSEWHERE)
    for await (const page of childrenOf(realtime, list, NODES_AT_ONCE))
      await forEach(page, (node) => eraseNode(erasing, list, node));
}

/** Removes the access data that the rules read, once Firestore stores nothing about the person. */
export async function forgetAccess({ realtime, traces }: ErasingRealtime): Promise<void> {
  await realtime.ref(`${ACCESS_PEOPLE}/${keyOf(traces.uid)}`).remove();
}

async function eraseNode(erasing: ErasingRealtime, list: string, node: DataSnapshot): Promise<void> {
  const { traces, report, isDry } = erasing;
  const { key } = node;
  if (key === null) return;
  const named = keyOf(traces.replaced(nameOfKey(key)));
  const value: unknown = node.val();
  const isNamed = traces.in(value) !== value;
  if (named === key && !isNamed) return;
  report.add('replaced', list);
  if (isDry) return;
  if (named !== key || isKeyNamed(traces, value)) await moveNode(erasing, list, node, named);
  else await replaceTexts(erasing, node);
}

/** Returns whether a key below the node names the person. If so, replacing texts is not enough. */
function isKeyNamed(traces: Traces, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([name, field]) => traces.replaced(nameOfKey(name)) !== nameOfKey(name) || isKeyNamed(traces, field),
  );
}

/** Replaces keys and texts of a node in one transaction, so that concurrent additions are kept. */
async function moveNode(
  { realtime, traces }: ErasingRealtime,
  list: string,
  node: DataSnapshot,
  named: string,
): Promise<void> {
  const target = realtime.ref(`${list}/${named}`);
  const moved = traces.in(node.val());
  await changeNode(target, (current) => {
    if (named === node.key) return current === null ? null : Object(traces.in(current));
    return typeof moved === 'object' ? moved : String(moved);
  });
  if (named !== node.key) await node.ref.remove();
}

/** Writes each replaced text separately, because other parts of the node can change at the same time. */
async function replaceTexts({ traces }: ErasingRealtime, node: DataSnapshot): Promise<void> {
  const texts: DataSnapshot[] = [];
  const collect = (part: DataSnapshot): void => {
    if (part.hasChildren()) part.forEach((child) => void collect(child));
    else texts.push(part);
  };
  collect(node);
  for (const text of texts) {
    const value: unknown = text.val();
    if (typeof value !== 'string' || traces.replaced(value) === value) continue;
    await changeNode(text.ref, (current) => {
      if (current === null) return null;
      return typeof current === 'string' ? traces.replaced(current) : undefined;
    });
  }
}
