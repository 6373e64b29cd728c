/** The rules deny the tokens of disabled, deleted or signed-out accounts, and allow those of valid accounts. */
import { assertFails, assertSucceeds } from '@firebase/rules-unit-testing';
import { get, ref, set } from 'firebase/database';
import { collection, doc, getDoc, getDocs, query, setDoc, where } from 'firebase/firestore/lite';
import { personPath, taskPath } from '../../functions/src/kernel/firestore/paths.ts';
import { accounts, type Caller } from './callers.ts';
import { useEnvironment } from './environment.ts';

const GOOD: readonly Caller[] = [accounts.at, accounts.after, accounts.agent];
const SHUT: readonly Caller[] = [accounts.before, accounts.disabled, accounts.deleted];

describe('security rules and accounts', () => {
  const environment = useEnvironment();

  /** Returns, by name, operations of the caller that the rules allow while the account is valid. */
  function attempts(caller: Caller): Readonly<Record<string, () => Promise<unknown>>> {
    const { firestore, realtime } = environment.as(caller);
    const tasks = collection(firestore, 'tasks');
    return {
      'read a document': () => getDoc(doc(firestore, taskPath('of-alpha'))),
      'query documents': () => getDocs(query(tasks, where('workspace', '==', 'alpha'))),
      'write a document': () => setDoc(doc(firestore, 'shared/alpha'), { by: caller.uid }),
      'read what the person may do': () => getDoc(doc(firestore, personPath(caller.stored?.uid ?? ''))),
      'read the other database': () => get(ref(realtime, 'shared/alpha')),
      'write the other database': () => set(ref(realtime, 'shared/alpha/note'), caller.uid),
      'read a queue': () => get(ref(realtime, 'workspaces/alpha/queue')),
    };
  }

  before(() => setDoc(doc(environment.unbound.firestore, taskPath('of-alpha')), { workspace: 'alpha' }));

  for (const caller of GOOD)
    it(`the rules allow every tested operation of ${caller.name}`, async () => {
      for (const attempt of Object.values(attempts(caller))) await assertSucceeds(attempt());
    });

  for (const caller of SHUT)
    it(`the rules deny every tested operation of ${caller.name}`, async () => {
      for (const attempt of Object.values(attempts(caller))) await assertFails(attempt());
    });
});
