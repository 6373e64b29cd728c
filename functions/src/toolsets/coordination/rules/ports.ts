/** What sessions and the queue of tasks are read by. */
import type { AccessPorts } from '../../../access/rules/ports.ts';
import type { QueueReader } from '../store/queue.ts';
import type { ArchiveReader, DiscoveryReader, SessionReader } from '../store/sessions.ts';
import type { TaskReader } from '../store/tasks.ts';

export interface CoordinationPorts extends AccessPorts {
  readonly tasks: TaskReader;
  readonly queue: QueueReader;
  readonly sessions: SessionReader;
  readonly archive: ArchiveReader;
  readonly discoveries: DiscoveryReader;
}
