/** `devices/{uid}/{deviceId}`: where a person's clients register their FCM tokens. */
import type { Database } from 'firebase-admin/database';
import { z } from 'zod';
import type { Device, Devices } from '../../domain/notifications/ports.ts';
import { devicesPath } from './paths.ts';
import { changeNode } from './transactions.ts';

/** So many devices of a person are told; the security rules cannot count them. */
const MOST_DEVICES = 20;

const storedDevice = z.looseObject({ token: z.string().min(1) });

/** Undefined for what is none: people's clients write them. */
export function tokenIn(value: unknown): string | undefined {
  return storedDevice.safeParse(value).data?.token;
}

export class DatabaseDevices implements Devices {
  private readonly database: () => Promise<Database>;

  constructor(database: () => Promise<Database>) {
    this.database = database;
  }

  async of(uid: string): Promise<readonly Device[]> {
    const list = (await this.database()).ref(devicesPath(uid));
    const found: Device[] = [];
    (await list.orderByChild('registered_at').limitToLast(MOST_DEVICES).get()).forEach((child) => {
      const token = tokenIn(child.val());
      if (token !== undefined) found.push({ id: child.key, token });
    });
    return found;
  }

  async forget(uid: string, { id, token }: Device): Promise<void> {
    const device = (await this.database()).ref(devicesPath(uid)).child(id);
    await changeNode(device, (current) => {
      const stored = tokenIn(current);
      return stored !== undefined && stored !== token ? undefined : null;
    });
  }
}
