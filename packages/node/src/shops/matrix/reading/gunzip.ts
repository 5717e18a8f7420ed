import { gunzipSync } from 'node:zlib'
import { refuse } from './refused.ts'

export const isGzip = (bytes: Uint8Array) => bytes[0] === 0x1f && bytes[1] === 0x8b

/** Archives keep files gzipped; a bomb stops at the cap of its source. */
export function gunzipWithin(bytes: Uint8Array, bytesMax: number): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: bytesMax })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      ? refuse('bomb', `the file would unpack to more than ${bytesMax} bytes`)
      : refuse('archive', 'the gzip file is damaged or cut off')
  }
}
