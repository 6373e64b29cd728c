/** A client that people may sign in from, as it is stored. */

import { z } from 'zod';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import type { Client } from './clients.ts';

export interface RegisteredClient extends Omit<Client, 'host'> {
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** An app that has registered itself: `clients/{id}`. */
export const { toDocument: clientToDocument, fromDocument: clientFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    name: z.string(),
    redirect_uris: z.array(z.string()),
    created_at: timestamp,
    /** Unless it is used. */
    expires_at: timestamp,
  }),
);
