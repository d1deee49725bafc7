//! TLS from the certificate and key that the user gives.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use termbridge_bridge::editor::{Stream, TlsAccept};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

/// Where certificate and key are, both PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate, and those between it and one that clients trust.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file does not hold what it should.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The key is not the certificate's, or of a kind that is not supported.
    #[error("the certificate and the key cannot be used: {0}")]
    Unusable(#[from] rustls::Error),
}

/// TLS for the connections of editors, with the server's certificate.
pub fn editor_tls(files: &TlsFiles) -> Result<Arc<dyn TlsAccept>, TlsError> {
    Ok(Arc::new(EditorTls(acceptor(files)?)))
}

struct EditorTls(TlsAcceptor);

#[async_trait]
impl TlsAccept for EditorTls {
    async fn accept(&self, stream: TcpStream) -> io::Result<Box<dyn Stream>> {
        Ok(Box::new(self.0.accept(stream).await?))
    }
}

pub(crate) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, TlsError> {
    let bad = |path: &Path, why: String| TlsError::File { path: path.to_owned(), why };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect)
        .map_err(|error| bad(&files.certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(bad(&files.certificate, "there is no certificate in it (PEM)".into()));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| bad(&files.key, error.to_string()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
