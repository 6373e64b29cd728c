import type { Firestore } from '@google-cloud/firestore';
import type { Agent } from '../../domain/agents/agent.ts';
import type { Credential } from '../../domain/agents/credential.ts';
import type { CredentialReader } from '../../domain/agents/ports.ts';
import type { AgentReader } from '../../domain/readers.ts';
import type { Versioned } from '../../domain/store.ts';
import { agentFromDocument, credentialFromDocument } from './agentDocument.ts';
import { agentPath, COLLECTIONS, credentialPath } from './paths.ts';
import type { DocumentReading } from './reading.ts';

/** Registering again replaces the credential, so an agent has one, or a few while registrations meet. */
const MAX_CREDENTIALS = 20;

export class FirestoreAgentReader implements AgentReader, CredentialReader {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async find(agentId: string): Promise<Versioned<Agent> | undefined> {
    return this.documents.findVersioned(await this.database.doc(agentPath(agentId)).get(), agentFromDocument);
  }

  async credentials(agentId: string): Promise<readonly Credential[]> {
    const found = await this.database
      .collection(COLLECTIONS.credentials)
      .where('agent_id', '==', agentId)
      .limit(MAX_CREDENTIALS)
      .get();
    return found.docs.flatMap((snapshot) => this.documents.readable(snapshot, credentialFromDocument));
  }

  async findWithAgent(apiKey: string): Promise<{ credential: Credential; agent: Agent } | undefined> {
    const snapshot = await this.database.doc(credentialPath(apiKey)).get();
    const credential = this.documents.find(snapshot, credentialFromDocument);
    if (credential === undefined) return undefined;
    const agent = await this.find(credential.agentId);
    return agent && { credential, agent: agent.value };
  }
}
