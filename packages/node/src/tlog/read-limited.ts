/** The body of an answer; undefined when it is longer than that, and then the rest is not read. */
export async function readLimited(response: Response, bytesMax: number): Promise<Buffer | undefined> {
  if (!response.body) return Buffer.alloc(0)
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength
    // Leaving the loop cancels the stream.
    if (length > bytesMax) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
