import type { DocumentSnapshot, Firestore } from '@google-cloud/firestore';
import type { Agent } from '../../domain/agents/agent.ts';
import type { CredentialReader } from '../../domain/agents/authentication.ts';
import type { Credential } from '../../domain/agents/credential.ts';
import type { AgentReader } from '../../domain/readers.ts';
import type { Versioned } from '../../domain/store.ts';
import { agentFromDocument, credentialFromDocument } from './agentDocument.ts';
import { agentPath, COLLECTIONS, credentialPath } from './paths.ts';
import { versioned } from './timestamp.ts';

/** Registering again replaces the credential, so an agent has one, or a few while registrations meet. */
const MAX_CREDENTIALS = 20;

export class FirestoreAgentReader implements AgentReader, CredentialReader {
  private readonly database: Firestore;

  constructor(database: Firestore) {
    this.database = database;
  }

  async find(agentId: string): Promise<Versioned<Agent> | undefined> {
    return readAgent(await this.database.doc(agentPath(agentId)).get());
  }

  async credentials(agentId: string): Promise<readonly Credential[]> {
    const found = await this.database
      .collection(COLLECTIONS.credentials)
      .where('agent_id', '==', agentId)
      .limit(MAX_CREDENTIALS)
      .get();
    return found.docs.map((snapshot) => credentialFromDocument(snapshot.data()));
  }

  async findWithAgent(apiKey: string): Promise<{ credential: Credential; agent: Agent } | undefined> {
    const snapshot = await this.database.doc(credentialPath(apiKey)).get();
    if (!snapshot.exists) return undefined;
    const credential = credentialFromDocument(snapshot.data());
    const agent = await this.find(credential.agentId);
    return agent && { credential, agent: agent.value };
  }
}

export function readAgent(snapshot: DocumentSnapshot): Versioned<Agent> | undefined {
  if (snapshot.updateTime === undefined) return undefined;
  return versioned(agentFromDocument(snapshot.data()), snapshot.updateTime);
}
