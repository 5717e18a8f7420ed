type Chunks = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

// Not every browser can iterate over a stream.
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Reads a body whole, or not at all: one above the limit is neither buffered nor read to its end. */
export async function readLimited(
  body: Chunks | null | undefined,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer> | 'too_large'> {
  if (!body) return new Uint8Array(0)
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of 'getReader' in body ? chunksOf(body) : body) {
    length += chunk.byteLength
    if (length > bytesMax) return 'too_large'
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}
