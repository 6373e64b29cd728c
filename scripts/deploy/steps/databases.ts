/** Steps that create and protect both databases, and schedule Firestore's backups. No step moves a database. */
import { z } from 'zod';
import { locationOf } from '../../doctor/checks/databases.ts';
import { realtimeLocationNear, realtimeOf } from '../../doctor/needs.ts';
import { realtimeInstance } from '../../doctor/shapes.ts';
import type { Api } from '../../google/apis.ts';
import { ended, operation } from '../../google/operation.ts';
import { orStop, type Step, Stop } from '../step.ts';

const api: Api = 'firestore.googleapis.com';

const PROTECTED = {
  deleteProtectionState: 'DELETE_PROTECTION_ENABLED',
  pointInTimeRecoveryEnablement: 'POINT_IN_TIME_RECOVERY_ENABLED',
};

/** 14 weeks, the longest retention of Firestore backups. */
const RETENTION = `${14 * 7 * 24 * 3600}s`;

export const databaseSteps: readonly Step[] = [
  {
    title: 'Firestore',
    checks: ['Firestore'],
    run: async ({ google, say }, { declared: { databaseId, region } }) => {
      say(`  creating ${databaseId} in ${region}; its location cannot be changed later`);
      const started = await google.send({
        method: 'POST',
        api,
        path: `v1/projects/${google.project}/databases`,
        query: { databaseId },
        body: { type: 'FIRESTORE_NATIVE', locationId: region, ...PROTECTED },
        schema: operation,
      });
      orStop(await ended(google, api, 'v1', started), 'Cannot create the Firestore database');
    },
  },
  {
    title: 'Firestore protection',
    checks: ['delete protection', 'point-in-time recovery'],
    run: async ({ google }, { declared: { databaseId } }) => {
      const started = await google.send({
        method: 'PATCH',
        api,
        path: `v1/projects/${google.project}/databases/${databaseId}`,
        query: { updateMask: Object.keys(PROTECTED).join(',') },
        body: PROTECTED,
        schema: operation,
      });
      orStop(await ended(google, api, 'v1', started), 'Cannot protect the Firestore database');
    },
  },
  {
    title: 'Firestore backups',
    checks: ['backup schedule'],
    run: async ({ google }, { declared: { databaseId } }) => {
      const made = await google.send({
        method: 'POST',
        api,
        path: `v1/projects/${google.project}/databases/${databaseId}/backupSchedules`,
        body: { dailyRecurrence: {}, retention: RETENTION },
        schema: z.unknown(),
      });
      orStop(made, 'Cannot schedule backups');
    },
  },
  {
    title: 'Realtime Database (created before the functions, which get its address when they are deployed)',
    checks: ['Realtime Database'],
    run: async ({ google, say }, { seen, declared }) => {
      const there = seen.realtimeInstances.ok ? realtimeOf(seen.realtimeInstances.value) : undefined;
      if (there !== undefined)
        throw new Stop(`The Realtime Database in ${locationOf(there)} is ${there.state}`, {
          page: `https://console.firebase.google.com/project/${google.project}/database`,
          press: "in the database's menu, Enable",
        });
      const location = realtimeLocationNear(declared.region);
      say(`  creating it in ${location}; its location cannot be changed later`);
      const made = await google.send({
        method: 'POST',
        api: 'firebasedatabase.googleapis.com',
        path: `v1beta/projects/${google.project}/locations/${location}/instances`,
        query: { databaseId: `${google.project}-default-rtdb` },
        body: { type: 'DEFAULT_DATABASE' },
        schema: realtimeInstance,
      });
      orStop(made, 'Cannot create the Realtime Database');
    },
  },
];
