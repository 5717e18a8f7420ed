/** Reads a body whole, or not at all: anyone who sends without end gets no memory for it. */
export async function readLimited(
  response: Response,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer> | 'too_large'> {
  if (response.body === null) return new Uint8Array(0)
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>
  const chunks: Uint8Array[] = []
  let length = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    length += part.value.byteLength
    if (length > bytesMax) {
      await reader.cancel().catch(() => {})
      return 'too_large'
    }
    chunks.push(part.value)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}
