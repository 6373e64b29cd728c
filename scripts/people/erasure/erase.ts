/**
 * Erases a person: what is theirs is deleted, and in what is the team's a pseudonym stands in their place. It begins by
 * shutting them out and ends with their account, without which nobody would know any more what to look for. A killed
 * erasure is simply run again, and a second one finds nothing.
 */
import type { UserRecord } from 'firebase-admin/auth';
import { compose } from '../../../functions/src/composition/compose.ts';
import { outside } from '../../../functions/src/composition/outside.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS, personPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { systemClock } from '../../../functions/src/kernel/platform.ts';
import { authentication, findUser } from '../../operator/accounts.ts';
import { pagesOf } from '../../operator/documents.ts';
import { reachedRealtime } from '../../operator/realtime.ts';
import * as registry from '../registry.ts';
import { eraseInFirestore } from './documents.ts';
import { eraseInRealtime, forgetAccess } from './realtime.ts';
import { Report } from './report.ts';
import { isPseudonym, pseudonymOf, Traces } from './traces.ts';

/** An ID token is good for so long, and rules of databases go by it whatever became of the account. */
const TOKEN_MILLISECONDS = 3_600_000;

export interface Erasure {
  readonly sentences: readonly string[];
  readonly data: object;
}

/**
 * @param who a uid, an address, or what an earlier erasure has put in a person's place
 * @throws Error where nobody is meant, or nobody would be left to administer the deployment
 */
export async function erase(
  who: string,
  {
    isDry,
    unverified = false,
    now = systemClock.now(),
  }: { readonly isDry: boolean; readonly unverified?: boolean; readonly now?: Date },
): Promise<Erasure> {
  const { uid, account } = await meant(who, { unverified });
  await requireAnotherAdmin(uid);
  const traces = new Traces(uid, account);
  const report = new Report();
  const { todo, services } = compose(outside());
  const agents = await registry.agentsOf(uid);
  const realtime = await reachedRealtime();
  if (!isDry) await shutOut(uid, account);
  const logs = new Set<string>();
  const erasing = { database: firestore(), realtime, ports: todo.ports, traces, report, isDry, logs };
  await eraseInFirestore(erasing);
  await eraseInRealtime(erasing);
  if (!isDry && account !== undefined) await (await authentication()).deleteUser(uid);
  const waits = isDry ? undefined : await forgetPerson(uid, now);
  if (waits === undefined && !isDry) {
    await services.mirrorPerson(uid);
    await forgetAccess(erasing);
  }
  const { pseudonym } = traces;
  return {
    data: { pseudonym, isDry, agents, finishedAfter: waits ?? null, ...report.data() },
    sentences: [
      ...report.sentences(isDry),
      `Agents of theirs, which can do nothing any more: ${agents.join(', ') || 'none'}.`,
      ...(isDry ? ['Nothing was changed: it was a dry run.'] : told(uid, pseudonym, waits)),
    ],
  };
}

function told(uid: string, pseudonym: string, waits: Date | undefined): readonly string[] {
  return [
    `In their place stands ${pseudonym}. Keep that outside of this project: after a restore, erase --person ${pseudonym} finds them again.`,
    waits === undefined
      ? 'The account is deleted, and nothing names them any more.'
      : `The account is deleted. ${personPath(uid)} keeps their last tokens from opening anything: run this again after ${waits.toISOString()}, with the uid.`,
  ];
}

interface Meant {
  readonly uid: string;
  readonly account: UserRecord | undefined;
}

async function meant(who: string, lookup: { readonly unverified: boolean }): Promise<Meant> {
  if (isPseudonym(who)) return { uid: await uidOf(who), account: await findUser(await uidOf(who)) };
  const account = await findUser(who, lookup);
  if (account === undefined && who.includes('@'))
    throw new Error(
      `Nobody has the address ${who}. Give the uid of somebody whose account is deleted already.`,
    );
  return { uid: account?.uid ?? who, account };
}

/** The uid of somebody whom a backup has brought back. */
async function uidOf(pseudonym: string): Promise<string> {
  for await (const { uid } of registry.everybody(() => undefined))
    if (pseudonymOf(uid) === pseudonym) return uid;
  for await (const page of pagesOf(firestore().collection(COLLECTIONS.agents).select('owner_uid')))
    for (const snapshot of page) {
      const owner = String(snapshot.get('owner_uid'));
      if (pseudonymOf(owner) === pseudonym) return owner;
    }
  throw new Error(`Nobody here is ${pseudonym}: they were not brought back.`);
}

async function requireAnotherAdmin(uid: string): Promise<void> {
  let isAdmin = false;
  for await (const { uid: other, account, person } of registry.everybody(() => undefined)) {
    if ((person?.role ?? account?.role) !== 'admin') continue;
    if (other === uid) isAdmin = true;
    else if (account?.isDisabled === false) return;
  }
  if (isAdmin)
    throw new Error(
      `${uid} is the last admin: make somebody else admin first, npm run people -- set-role <mail> admin. Nothing was changed.`,
    );
}

async function shutOut(uid: string, account: UserRecord | undefined): Promise<void> {
  if (account !== undefined) await (await authentication()).updateUser(uid, { disabled: true });
  const known = await registry.known(uid);
  if (known !== undefined) await registry.revoke(known);
}

/**
 * Deletes what rules decide by, once no token can be good any more.
 * @returns when that will be, where it is still to come
 */
async function forgetPerson(uid: string, now: Date): Promise<Date | undefined> {
  const document = firestore().doc(personPath(uid));
  const { updateTime } = await document.get();
  if (updateTime === undefined) return undefined;
  const over = new Date(updateTime.toMillis() + TOKEN_MILLISECONDS);
  if (over > now) return over;
  await document.delete();
  return undefined;
}
