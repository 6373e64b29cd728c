import type { InstanceGauge, InstanceUse } from '../../domain/system/systemStatus.ts';

const MEBIBYTE = 1024 * 1024;

/** Looks at this process, which is all of an instance. */
export class ProcessGauge implements InstanceGauge {
  private lastLook = { at: 0, microseconds: 0 };

  look(): InstanceUse {
    const { user, system } = process.cpuUsage();
    const now = { at: process.uptime(), microseconds: user + system };
    const busySeconds = (now.microseconds - this.lastLook.microseconds) / 1e6;
    const seconds = Math.max(now.at - this.lastLook.at, 0.001);
    this.lastLook = now;
    return {
      uptimeSeconds: Math.floor(now.at),
      memoryMebibytes: oneDecimal(process.memoryUsage.rss() / MEBIBYTE),
      cpuPercent: oneDecimal((100 * busySeconds) / seconds),
    };
  }

  versions(): Readonly<Record<string, string>> {
    const { node = '', v8 = '', uv = '', openssl = '' } = process.versions;
    return { node, v8, uv, openssl };
  }
}

function oneDecimal(value: number): number {
  return Math.round(value * 10) / 10;
}
