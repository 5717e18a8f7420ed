import { createServer } from 'node:http'
import { noteKey, signatureTypes } from '@assay/protocol/log/signed-note'
import { onLoopback } from '@assay/till/kernel/on-loopback.fixture'
import { afterAll, expect, test } from 'vitest'
import { httpWitness } from './witness-adapter.ts'

const chunk = Buffer.alloc(16_384, 'a')
const chunksMax = 4_096
let written = 0

/** Answers without end, as fast as it is read. */
const server = createServer((_request, response) => {
  const more = () => {
    while (written < chunksMax && !response.destroyed) {
      written += 1
      if (!response.write(chunk)) return
    }
    response.end()
  }
  response.on('drain', more)
  more()
})
const { url, close } = await onLoopback(server)
afterAll(close)

test('a witness that answers without end is left after the size of an answer', async () => {
  const key = noteKey('w.example', signatureTypes.cosignature, Buffer.alloc(32, 1).toString('base64url'))
  const witness = httpWitness(url, key)
  await expect(witness.addCheckpoint('old 0')).rejects.toThrow('too large')
  await expect(witness.readHead?.('log.example')).rejects.toThrow('too large')
  // What the buffers of two connections take, and far from all of it.
  expect(written).toBeLessThan(chunksMax / 2)
})
