import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

/** DER, as little of it as a certificate needs. */
const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts)
  const length =
    body.length < 128
      ? [body.length]
      : body.length < 256
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}
const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const time = (date: Date) => der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\.\d+/g, '')}`))
const commonName = (name: string) => sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))))
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
const extension = (id: string, value: Uint8Array) => sequence(oid(id), der(0x01, Buffer.from([255])), der(0x04, value))

export type Certificate = { name: string; pem: string; key: string; privateKey: KeyObject }

/** A certificate for `name`, signed by `issuer` or by itself, valid for the days given. */
export function makeCertificate(options: {
  name: string
  issuer?: Certificate
  authority?: boolean
  from?: Date
  until?: Date
}): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const extensions = options.authority
    ? extension('551d13', sequence(der(0x01, Buffer.from([255]))))
    : extension('551d11', sequence(der(0x82, Buffer.from(options.name))))
  const day = 86_400_000
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1 + Math.floor(options.name.length / 2), options.name.length])),
    ecdsaWithSha256,
    commonName(options.issuer?.name ?? options.name),
    sequence(time(options.from ?? new Date(Date.now() - day)), time(options.until ?? new Date(Date.now() + day))),
    commonName(options.name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extensions)),
  )
  const signature = sign('sha256', content, options.issuer?.privateKey ?? privateKey)
  const whole = sequence(content, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature))
  const lines = whole.toString('base64').replace(/.{1,64}/g, '$&\n')
  return {
    name: options.name,
    pem: `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    privateKey,
  }
}
