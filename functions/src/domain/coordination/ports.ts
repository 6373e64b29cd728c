/** What sessions and the queue of tasks are read by. */
import type { AccessPorts } from '../agents/ports.ts';
import type { ArchiveReader, DiscoveryReader, TaskReader } from '../readers.ts';
import type { QueueReader } from '../system/readers.ts';

export interface CoordinationPorts extends AccessPorts {
  readonly tasks: TaskReader;
  readonly queue: QueueReader;
  readonly archive: ArchiveReader;
  readonly discoveries: DiscoveryReader;
}
