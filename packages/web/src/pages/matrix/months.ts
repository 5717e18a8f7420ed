type File = { month: string; format: string }

const monthsShown = 12

/** The newest twelve files of a format, newest first. */
export const lastYear = <F extends File>(files: readonly F[], format: string): F[] =>
  files
    .filter((file) => file.format === format)
    .sort((one, other) => (one.month < other.month ? 1 : -1))
    .slice(0, monthsShown)

export const fileSize = (bytes: number): string =>
  bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.max(1, Math.round(bytes / 1e3))} kB`

export async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
