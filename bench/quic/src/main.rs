//! A transfer over quinn.
//!
//! ```text
//! quic serve ADDRESS:PORT spin|still
//! quic fetch ADDRESS:PORT FROM spin|still WARM_UP SECONDS      bytes that came in so many seconds, after so many
//! ```

use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig, congestion};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

const BLOCK: [u8; 16_384] = [0; 16_384];
const PROTOCOL: &[u8] = b"transfer";

fn transport(spin: &str) -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport.allow_spin(spin == "spin");
    transport.congestion_controller_factory(Arc::new(congestion::CubicConfig::default()));
    Arc::new(transport)
}

async fn serve(at: SocketAddr, spin: &str) -> Outcome<()> {
    let made = rcgen::generate_simple_self_signed(vec!["mesh".into()])?;
    let key = PrivatePkcs8KeyDer::from(made.key_pair.serialize_der());
    let mut crypto = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key.into())?;
    crypto.alpn_protocols = vec![PROTOCOL.to_vec()];
    let crypto = quinn::crypto::rustls::QuicServerConfig::try_from(crypto)?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(transport(spin));
    let endpoint = Endpoint::server(config, at)?;
    println!("up");
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(async move {
            let connection = incoming.await?;
            let (mut out, mut asked) = connection.accept_bi().await?;
            asked.read_to_end(1).await.ok();
            while out.write_all(&BLOCK).await.is_ok() {}
            Ok::<(), quinn::ConnectionError>(())
        });
    }
    Ok(())
}

async fn fetch(at: SocketAddr, from: IpAddr, spin: &str, warm_up: f64, seconds: f64) -> Outcome<()> {
    let mut crypto = rustls::ClientConfig::builder()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate))
        .with_no_client_auth();
    crypto.alpn_protocols = vec![PROTOCOL.to_vec()];
    let crypto = quinn::crypto::rustls::QuicClientConfig::try_from(crypto)?;
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(transport(spin));
    let endpoint = Endpoint::client((from, 0).into())?;
    let connection = endpoint.connect_with(config, at, "mesh")?.await?;
    let (mut ask, mut answer) = connection.open_bi().await?;
    ask.write_all(b"?").await?;
    ask.finish()?;
    let mut buffer = BLOCK;
    let (begun, mut counted) = (Instant::now(), 0);
    let [from, until] = [warm_up, warm_up + seconds].map(Duration::from_secs_f64);
    while begun.elapsed() < until {
        let read = tokio::time::timeout(Duration::from_millis(100), answer.read(&mut buffer)).await;
        let Ok(read) = read else { continue };
        let Some(bytes) = read? else { break };
        if begun.elapsed() >= from {
            counted += bytes;
        }
    }
    println!("{counted}");
    connection.close(0u8.into(), b"enough");
    Ok(())
}

/// What the server shows is its own, and made a moment ago: the bench is no place for anybody between.
#[derive(Debug)]
struct AnyCertificate;

impl rustls::client::danger::ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        rustls::crypto::ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["serve", at, spin] => serve(at.parse()?, spin).await,
        ["fetch", at, from, spin, warm_up, seconds] => {
            fetch(at.parse()?, from.parse()?, spin, warm_up.parse()?, seconds.parse()?).await
        }
        _ => {
            Err("quic serve ADDRESS:PORT spin|still; quic fetch ADDRESS:PORT FROM spin|still WARM_UP SECONDS"
                .into())
        }
    }
}
