/** Checks that both databases exist, are in the right location and are protected against deletion. */
import {
  type Check,
  deployCommand,
  type Finding,
  known,
  OK,
  problemUnless,
  type Site,
  setParameter,
  waitsFor,
} from '../check.ts';
import { realtimeLocationNear, realtimeOf } from '../needs.ts';
import { current } from './functions.ts';

type Firestore = (Site['seen']['firestores'] & { readonly ok: true })['value'][number];
type Instance = (Site['seen']['realtimeInstances'] & { readonly ok: true })['value'][number];

export function firestoreOf({ declared }: Site, databases: readonly Firestore[]): Firestore | undefined {
  return databases.find(({ name }) => name.endsWith(`/databases/${declared.databaseId}`));
}

/** Returns the name that the Firebase CLI uses, such as `my-project-default-rtdb`. */
export function nameOf({ name }: Instance): string {
  return name.split('/').at(-1) ?? '';
}

export function locationOf({ name }: Instance): string {
  return /\/locations\/([^/]+)\//.exec(name)?.[1] ?? '';
}

function ofFirestore(site: Site, decide: (database: Firestore) => Finding): Finding {
  return known(site, site.seen.firestores, (databases) => {
    const database = firestoreOf(site, databases);
    return database === undefined ? waitsFor(`no Firestore database ${site.declared.databaseId}`) : decide(database);
  });
}

export function ofRealtime(site: Site, decide: (instance: Instance) => Finding): Finding {
  return known(site, site.seen.realtimeInstances, (instances) => {
    const instance = realtimeOf(instances);
    return instance === undefined ? waitsFor('no Realtime Database') : decide(instance);
  });
}

function updating({ declared }: Site, flag: string): { readonly command: string } {
  const { databaseId, project } = declared;
  return { command: `gcloud firestore databases update --database='${databaseId}' ${flag} --project ${project}` };
}

export const databaseChecks: readonly Check[] = [
  {
    name: 'Firestore',
    find: (site) =>
      known(site, site.seen.firestores, (databases) => {
        if (firestoreOf(site, databases) !== undefined) return OK;
        const { databaseId, region, project } = site.declared;
        const others = databases.map(({ name, locationId }) => `${name.replace(/^.*\//, '')} in ${locationId}`);
        return {
          state: 'problem',
          what: `Firestore database ${databaseId} not found${others.length > 0 ? `; existing databases: ${others.join(', ')}` : ''}`,
          why: 'this database stores all data; if no one creates it first, Firebase creates it without protection and backups',
          fix: {
            command: `gcloud firestore databases create --database='${databaseId}' --location=${region} --type=firestore-native --delete-protection --enable-pitr --project ${project}`,
          },
        };
      }),
  },
  {
    name: 'Firestore mode',
    find: (site) =>
      ofFirestore(site, ({ type }) =>
        problemUnless(type === 'FIRESTORE_NATIVE', {
          what: `the database is in ${type === 'DATASTORE_MODE' ? 'Datastore mode' : `mode ${type}`}`,
          why: 'this mode has no listeners and no security rules; the mode can be changed only while the database is empty',
          fix: updating(site, '--type=firestore-native'),
        }),
      ),
  },
  {
    name: 'Firestore location',
    find: (site) =>
      ofFirestore(site, ({ locationId }) => {
        const { region, firestoreLocation } = site.declared;
        if (locationId === region) return OK;
        const isMulti = !locationId.includes('-');
        if (isMulti && locationId === firestoreLocation) return OK;
        return isMulti ? inMultiRegion(site, locationId) : elsewhere(site, locationId);
      }),
  },
  {
    name: 'delete protection',
    find: (site) =>
      ofFirestore(site, ({ deleteProtectionState }) =>
        problemUnless(deleteProtectionState === 'DELETE_PROTECTION_ENABLED', {
          what: 'the Firestore database can be deleted with one command',
          why: 'deleting the database deletes all data and breaks the triggers of the functions',
          fix: updating(site, '--delete-protection'),
        }),
      ),
  },
  {
    name: 'point-in-time recovery',
    find: (site) =>
      ofFirestore(site, ({ pointInTimeRecoveryEnablement }) =>
        problemUnless(pointInTimeRecoveryEnablement === 'POINT_IN_TIME_RECOVERY_ENABLED', {
          what: 'Firestore keeps no previous versions of its documents',
          why: 'without them, the database cannot be restored to a chosen minute of the last seven days',
          fix: updating(site, '--enable-pitr'),
        }),
      ),
  },
  {
    name: 'backup schedule',
    find: (site) =>
      ofFirestore(site, () =>
        known(site, site.seen.backupSchedules, (schedules = []) =>
          problemUnless(schedules.length > 0, {
            what: 'Firestore has no backup schedule',
            why: 'only a backup restores data older than seven days, or a deleted database',
            fix: {
              command: `gcloud firestore backups schedules create --database='${site.declared.databaseId}' --recurrence=daily --retention=14w --project ${site.declared.project}`,
            },
          }),
        ),
      ),
  },
  {
    name: 'Realtime Database',
    find: (site) =>
      known(site, site.seen.realtimeInstances, (instances) => {
        const instance = realtimeOf(instances);
        if (instance?.state === 'ACTIVE') return OK;
        if (instance === undefined)
          return {
            state: 'problem',
            what: 'no default Realtime Database',
            why: 'this database stores presence, limits and queues, and functions get its address when they are deployed',
            fix: deployCommand(site.declared),
          };
        return {
          state: 'problem',
          what: `the Realtime Database is ${instance.state}`,
          why: 'this database stores presence, limits and queues; without it, no task can be claimed',
          fix: {
            page: `https://console.firebase.google.com/project/${site.declared.project}/database`,
            press: "in the database's menu, Enable",
          },
        };
      }),
  },
  {
    name: 'Realtime Database location',
    find: (site) =>
      ofRealtime(site, (instance) => {
        const location = locationOf(instance);
        if (location === realtimeLocationNear(site.declared.region)) return OK;
        const what = `the Realtime Database is in ${location}, but the functions are in ${site.declared.region}`;
        const why = 'each write of presence or rate limits crosses regions, and the location cannot be changed later';
        if (!isWithFirestore(site))
          return { state: 'problem', what, why, fix: setParameter(site.declared, 'REGION', location) };
        return {
          state: 'warning',
          what: `${what}, together with Firestore`,
          why,
          fix: {
            page: 'https://console.firebase.google.com',
            press: 'to have both databases in one location, create another project and deploy there',
          },
        };
      }),
  },
  {
    name: 'database URL',
    find: (site) =>
      ofRealtime(site, ({ databaseUrl }) =>
        known(site, site.seen.adminSdkConfig, ({ databaseURL }) =>
          known(site, site.seen.functions, (functions) => {
            const stale = current(site, functions).filter(({ serviceConfig }) => {
              const configured = serviceConfig?.environmentVariables['FIREBASE_CONFIG'];
              return configured !== undefined && !configured.includes(`"${databaseUrl}"`);
            });
            if (databaseURL === databaseUrl && stale.length === 0) return OK;
            const names = stale.map(({ name }) => name.replace(/^.*\//, ''));
            return {
              state: 'problem',
              what:
                names.length > 0
                  ? `functions that were deployed without the Realtime Database's address: ${names.join(', ')}`
                  : `the project's configuration has ${databaseURL ?? 'no database address'}, but must have ${databaseUrl}`,
              why: 'functions get the address when they are deployed, so they cannot reach a database that was created later',
              fix: deployCommand(site.declared),
            };
          }),
        ),
      ),
  },
];

function isWithFirestore(site: Site): boolean {
  const { firestores } = site.seen;
  const database = firestores.ok ? firestoreOf(site, firestores.value) : undefined;
  return database?.locationId === site.declared.region;
}

function inMultiRegion(site: Site, locationId: string): Finding {
  const { project, region } = site.declared;
  return {
    state: 'problem',
    what: `Firestore is in ${locationId}, but the location in firebase.json is ${site.declared.firestoreLocation ?? 'not set'}`,
    why: 'a multi-region costs twice as much, its location cannot be changed later, and the functions and the Realtime Database are in one region in any case',
    fix: {
      page: `https://console.firebase.google.com/project/${project}/firestore`,
      press: `if the database is empty, delete the database there and run npm run deploy -- --project ${project}, which creates one in ${region}; to keep the database, add "location": "${locationId}" to firebase.json`,
    },
  };
}

function elsewhere(site: Site, locationId: string): Finding {
  return {
    state: 'problem',
    what: `Firestore is in ${locationId}, but the functions are in ${site.declared.region}`,
    why: "every commit would cross regions; Firestore's location cannot be changed, so deploy the functions to its region",
    fix: setParameter(site.declared, 'REGION', locationId),
  };
}
