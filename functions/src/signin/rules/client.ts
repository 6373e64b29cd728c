/** A client that people may sign in from, as it is stored. */

import { z } from 'zod';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';

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

export interface Client {
  readonly id: string;
  /** What it calls itself, fit to be shown. */
  readonly name: string;
  /** Whose document says so; absent where it registered itself, so that nobody vouches for it. */
  readonly host?: string;
  readonly redirectUris: readonly string[];
}
