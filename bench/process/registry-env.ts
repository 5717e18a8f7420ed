/** The way to the package registry: what runs in a clean environment may have to install the peer it is measured beside. */
export function registryEnv(): NodeJS.ProcessEnv {
  const wanted = /^(npm_config_|https?_proxy$|no_proxy$|node_extra_ca_certs$|ssl_cert_)/i
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => wanted.test(name)))
}
