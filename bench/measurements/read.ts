/** Rate of `firebase.read`, compared with a bare function that reads the same document with the same client. */
import { fileURLToPath } from 'node:url';
import { IdentityToolkitSignIn } from '../../functions/src/access/store/idTokens.ts';
import { agentUid } from '../../functions/src/identity/rules/principal.ts';
import { firebaseApp } from '../../functions/src/kernel/realtime/database.ts';
import { mcpHeaders, mcpMessage } from '../load/client.ts';
import { measureRate } from '../load/saturation.ts';
import { type Measurement, spread } from '../measurement.ts';
import { alternate, each, ratioOf, type Schedule } from '../rounds.ts';
import { addCallers, newProject } from '../seed.ts';
import { musterFunction, serveFunction } from '../servers/functionServer.ts';

const SECONDS = 3;
const SCHEDULE: Schedule = { warmUps: 1, rounds: 7 };
const callerRead = fileURLToPath(new URL('../baselines/callerRead.mjs', import.meta.url));

export async function measureRead(): Promise<Measurement> {
  const project = newProject('read');
  const [worker] = await addCallers(project, 'worker');
  if (worker === undefined) throw new Error('Missing caller.');
  const muster = await serveFunction({ ...musterFunction, env: project.env });
  const idToken = await signIn(worker.agentId);
  const env = { ...project.env, ID_TOKEN: idToken };
  const baseline = await serveFunction({ source: callerRead, target: 'callerRead', env });
  const read = { name: 'firebase_read', arguments: { database: 'firestore', path: 'agents/worker0' } };
  const headers = mcpHeaders(worker.credential);
  const rates = await alternate(
    SCHEDULE,
    () => measureRate(muster, { headers, body: mcpMessage('tools/call', read), isRight: isAnswer }, SECONDS),
    () => measureRate(baseline, { headers: {}, body: '', isRight: isDocument }, SECONDS),
  );
  const perSecond = each(rates, (rate) => rate.perSecond);
  const cpu = each(rates, (rate) => rate.cpuMicroseconds);
  await Promise.all([muster.end(), baseline.end()]);
  return {
    name: 'read',
    title: "firebase.read of one Firestore document with the caller's identity",
    ratio: ratioOf(perSecond),
    target: { kind: 'at least', value: 0.95 },
    figures: {
      'reads/s': spread(perSecond.ours),
      'reads/s of the baseline': spread(perSecond.baseline),
      'CPU µs per read': spread(cpu.ours),
      'CPU µs per read of the baseline': spread(cpu.baseline),
    },
  };
}

/** Returns an ID token of the calling agent, with which the bare function reads the document. */
async function signIn(agentId: string): Promise<string> {
  const claims = { role: 'worker', kind: 'agent', agentId, ownerUid: 'person', ownerRole: 'admin' };
  const { idToken } = await new IdentityToolkitSignIn({ app: firebaseApp, webApiKey: '' }).signIn(
    agentUid(agentId),
    claims,
  );
  return idToken;
}

function isAnswer(answer: string): boolean {
  return answer.includes('"structuredContent":{"success":true,"data":{"id":"worker0"') && !isRefusal(answer);
}

function isDocument(answer: string): boolean {
  return answer.includes('"id":"worker0"');
}

function isRefusal(answer: string): boolean {
  return answer.includes('"isError":true');
}
