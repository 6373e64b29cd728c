/** Random data and queries: compares the server's results with the results that the SDKs compute themselves. */
import assert from 'node:assert/strict';
import { type Server, startServer } from '../src/server.ts';
import type { Constraint } from './support/constraints.ts';
import { eventually } from './support/eventually.ts';
import { Random } from './support/random.ts';
import { adminSdk, clientSdk, type Sdk, type Snapshot } from './support/sdk.ts';

describe('rtdb-lite and the SDKs', () => {
  const random = new Random(42);
  let server: Server;
  let admin: Sdk;
  let client: Sdk;

  before(async () => {
    server = await startServer();
    admin = adminSdk(server, 'agreement');
    client = clientSdk(server, 'agreement', 'alice');
  });
  after(async () => {
    await Promise.all([admin.close(), client.close()]);
    await server.close();
  });

  it('agree on 200 random values and the hash of each transaction', async () => {
    for (let index = 0; index < 200; index++) {
      const path = `values/${index}`;
      await admin.set(path, random.value(3, true));
      const end = client.on('value', () => {}, path);
      const seen = (await client.get(path)).exported;
      assert.deepEqual(seen, (await admin.get(path)).exported);
      let runs = 0;
      const change = (value: unknown) => {
        runs += 1;
        return value === null ? value : 'done';
      };
      assert.ok(await client.transaction(path, change));
      assert.equal(runs, 1, JSON.stringify(seen));
      end();
    }
  });

  it('agree on 400 random queries', async () => {
    const data = randomChildren(random);
    await admin.set('queries', data);
    const end = client.on('value', () => {}, 'queries'); // A client that has all data computes its queries locally.
    await client.get('queries');
    for (let round = 0; round < 400; round++) {
      const constraints = randomQuery(random, Object.keys(data));
      const computed = (await client.once('queries', ...constraints)).keys();
      assert.deepEqual((await admin.get('queries', ...constraints)).keys(), computed, JSON.stringify(constraints));
    }
    end();
  });

  it('agree on the windows of limited queries while another client writes 300 times', async () => {
    const windows = Array.from({ length: 6 }, () => new Window(client, randomWindow(random)));
    for (let round = 0; round < 300; round++) await randomWrite(admin, random);
    for (const { constraints, view, children, end } of windows) {
      const { value } = await admin.get('window', ...constraints);
      await eventually(() => {
        assert.deepEqual(view(), value, JSON.stringify(constraints));
        assert.deepEqual([...children].sort(), Object.keys(value ?? {}).sort());
      });
      end();
    }
  });
});

/** Tracks a query's result at a client, both by value events and by child events. */
class Window {
  readonly constraints: Constraint[];
  readonly children = new Set<string | null>();
  readonly view: () => unknown;
  readonly end: () => void;

  constructor(client: Sdk, constraints: Constraint[]) {
    this.constraints = constraints;
    let last: Snapshot | undefined;
    const ends = [
      client.on(
        'value',
        (snapshot) => {
          last = snapshot;
        },
        'window',
        ...constraints,
      ),
      client.on('child_added', ({ key }) => this.#add(key), 'window', ...constraints),
      client.on('child_removed', ({ key }) => assert.ok(this.children.delete(key)), 'window', ...constraints),
    ];
    this.view = () => last?.value ?? null;
    this.end = () => {
      for (const end of ends) end();
    };
  }

  #add(key: string | null): void {
    assert.ok(!this.children.has(key));
    this.children.add(key);
  }
}

function randomWindow(random: Random): Constraint[] {
  const limit = random.pick(['limitToFirst', 'limitToLast'] as const);
  return [
    ['orderByChild', random.pick(['s', 't'])],
    [limit, 1 + random.below(4)],
  ];
}

async function randomWrite(sdk: Sdk, random: Random): Promise<void> {
  const path = `window/k${random.below(8)}`;
  switch (random.below(5)) {
    case 0:
      await sdk.remove(path);
      break;
    case 1:
      await sdk.set(`${path}/s`, random.primitive());
      break;
    case 2:
      await sdk.update('/', { [`${path}/t`]: random.below(5), [`window/k${random.below(8)}/s`]: random.primitive() });
      break;
    default:
      if (random.below(40) === 0) await sdk.set('window', null);
      else await sdk.set(path, { s: random.primitive(), t: random.below(5) });
  }
}

/** Gives some children a priority, because without priorities the SDK misreads orderByPriority with endBefore. */
function randomChildren(random: Random): Record<string, unknown> {
  const children = Array.from({ length: 40 }, (_, index) => {
    const key = `${random.pick(['k', '', 'x'])}${index}`;
    if (random.below(5) === 0) return [key, random.primitive()];
    const priority = random.below(2) === 0 ? { '.priority': random.below(4) } : {};
    return [key, { s: random.primitive(), t: random.below(4), n: { d: random.primitive() }, ...priority }];
  });
  return Object.fromEntries(children);
}

const orders: Constraint[] = [
  ['orderByChild', 's'],
  ['orderByChild', 't'],
  ['orderByChild', 'n/d'],
  ['orderByKey'],
  ['orderByValue'],
  ['orderByPriority'],
];

function randomQuery(random: Random, keys: string[]): Constraint[] {
  const order = random.pick(orders);
  const value = () => randomBound(random, order, keys);
  const key = () => (order[0] !== 'orderByKey' && random.below(3) === 0 ? random.pick(keys) : undefined);
  const query = [order];
  if (random.below(5) === 0) query.push(['equalTo', value(), key()]);
  else {
    if (random.below(2) === 0) query.push([random.pick(['startAt', 'startAfter'] as const), value(), key()]);
    if (random.below(2) === 0) query.push([random.pick(['endAt', 'endBefore'] as const), value(), key()]);
  }
  if (random.below(2) === 0) query.push([random.pick(['limitToFirst', 'limitToLast'] as const), 1 + random.below(6)]);
  return query;
}

function randomBound(random: Random, [method, child]: Constraint, keys: string[]): string | number | boolean {
  if (method === 'orderByKey') return random.pick(keys);
  if (method === 'orderByPriority') return random.below(3);
  return child === 't' ? random.below(4) : random.primitive();
}
