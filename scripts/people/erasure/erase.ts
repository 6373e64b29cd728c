/**
 * Erases a person: deletes their data, and replaces them with a pseudonym in shared data. The first step revokes
 * their access. The last step deletes their account, which contains the name and address that the other steps need.
 * An interrupted erasure can be run again, and repeating a complete one has no effect.
 */
import type { UserRecord } from 'firebase-admin/auth';
import { compose } from '../../../functions/src/composition/compose.ts';
import { externalServices } from '../../../functions/src/composition/externalServices.ts';
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

/** Lifetime of an ID token. The databases' rules accept a token even after its account has been deleted. */
const TOKEN_MS = 3_600_000;

export interface Erasure {
  readonly sentences: readonly string[];
  readonly data: object;
}

/**
 * Erases a person and returns the report.
 * @param who uid or address of the person, or the pseudonym from an earlier erasure
 * @throws Error if no person matches, or if the person is the deployment's last admin
 */
export async function erase(
  who: string,
  {
    isDry,
    unverified = false,
    now = systemClock.now(),
  }: { readonly isDry: boolean; readonly unverified?: boolean; readonly now?: Date },
): Promise<Erasure> {
  const { uid, account } = await erasureTarget(who, { unverified });
  await requireAnotherAdmin(uid);
  const traces = new Traces(uid, account);
  const report = new Report();
  const { todo, services } = compose(externalServices());
  const agents = await registry.agentsOf(uid);
  const realtime = await reachedRealtime();
  if (!isDry) await suspend(uid, account);
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
      `Their agents, which lose all access: ${agents.join(', ') || 'none'}.`,
      ...(isDry ? ['Dry run: nothing was changed.'] : reportOf(uid, pseudonym, waits)),
    ],
  };
}

function reportOf(uid: string, pseudonym: string, waits: Date | undefined): readonly string[] {
  return [
    `Their pseudonym is ${pseudonym}. Store it outside of this project. If you restore a backup, use it to erase them again: erase --person ${pseudonym}.`,
    waits === undefined
      ? 'The account is deleted, and no data names the person anymore.'
      : `The account is deleted. The document ${personPath(uid)} still blocks their last tokens. To delete it too, run this command again with the uid after ${waits.toISOString()}.`,
  ];
}

interface ErasureTarget {
  readonly uid: string;
  readonly account: UserRecord | undefined;
}

async function erasureTarget(who: string, lookup: { readonly unverified: boolean }): Promise<ErasureTarget> {
  if (isPseudonym(who)) return { uid: await uidOf(who), account: await findUser(await uidOf(who)) };
  const account = await findUser(who, lookup);
  if (account === undefined && who.includes('@'))
    throw new Error(`No account has the address ${who}. If the account is already deleted, use the uid.`);
  return { uid: account?.uid ?? who, account };
}

/** Returns the uid of a person who was restored from a backup and whose pseudonym is known. */
async function uidOf(pseudonym: string): Promise<string> {
  for await (const { uid } of registry.allPeople(() => undefined)) if (pseudonymOf(uid) === pseudonym) return uid;
  for await (const page of pagesOf(firestore().collection(COLLECTIONS.agents).select('owner_uid')))
    for (const snapshot of page) {
      const owner = String(snapshot.get('owner_uid'));
      if (pseudonymOf(owner) === pseudonym) return owner;
    }
  throw new Error(`The restored data has no person with the pseudonym ${pseudonym}.`);
}

async function requireAnotherAdmin(uid: string): Promise<void> {
  let isAdmin = false;
  for await (const { uid: other, account, person } of registry.allPeople(() => undefined)) {
    if ((person?.role ?? account?.role) !== 'admin') continue;
    if (other === uid) isAdmin = true;
    else if (account?.isDisabled === false) return;
  }
  if (isAdmin)
    throw new Error(
      `${uid} is the last admin. Nothing was changed. Make another person admin first: npm run people -- set-role <email> admin.`,
    );
}

async function suspend(uid: string, account: UserRecord | undefined): Promise<void> {
  if (account !== undefined) await (await authentication()).updateUser(uid, { disabled: true });
  const known = await registry.known(uid);
  if (known !== undefined) await registry.revoke(known);
}

/**
 * Deletes the documents that security rules read, if all tokens of the person have expired.
 * @returns the time at which the tokens expire, if that is in the future
 */
async function forgetPerson(uid: string, now: Date): Promise<Date | undefined> {
  const document = firestore().doc(personPath(uid));
  const { updateTime } = await document.get();
  if (updateTime === undefined) return undefined;
  const over = new Date(updateTime.toMillis() + TOKEN_MS);
  if (over > now) return over;
  await document.delete();
  return undefined;
}
