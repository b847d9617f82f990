//! A picture of the virtual display: its XWD file turned into a PNG.

use crate::stop::Stop;
use std::path::Path;

/// Rows of RGB pixels.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Picture {
    /// Reads an XWD file with 32 bits a pixel, blue first, as Xvfb keeps it.
    pub(crate) fn of_xwd(file: &[u8]) -> Option<Self> {
        // The header is a row of big-endian 32-bit numbers.
        let field = |index: usize| {
            let bytes = file.get(index * 4..index * 4 + 4)?;
            usize::try_from(u32::from_be_bytes(bytes.try_into().ok()?)).ok()
        };
        let (header, width, height) = (field(0)?, field(4)?, field(5)?);
        let (bits, stride, colours) = (field(11)?, field(12)?, field(19)?);
        if bits != 32 {
            return None;
        }
        let pixels = file.get(header + colours * 12..)?;
        let mut rgb = Vec::with_capacity(width * height * 3);
        for row in 0..height {
            let line = pixels.get(row * stride..row * stride + width * 4)?;
            for pixel in line.chunks_exact(4) {
                rgb.extend([pixel[2], pixel[1], pixel[0]]);
            }
        }
        Some(Self { width, height, rgb })
    }

    /// Width and height.
    #[cfg(test)]
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Writes it as a PNG.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Stop> {
        std::fs::write(path, self.png()).map_err(|error| {
            Stop::failed(format!("the picture {} can't be written: {error}", path.display()))
        })
    }

    fn png(&self) -> Vec<u8> {
        // Each row begins with its filter; "up" suits the flat areas of a window.
        const UP: u8 = 2;
        let stride = self.width * 3;
        let mut above = vec![0; stride];
        let mut rows = Vec::with_capacity((stride + 1) * self.height);
        for row in self.rgb.chunks_exact(stride.max(1)) {
            rows.push(UP);
            rows.extend(row.iter().zip(&above).map(|(here, up)| here.wrapping_sub(*up)));
            above.copy_from_slice(row);
        }
        let side = |pixels: usize| u32::try_from(pixels).unwrap_or_default().to_be_bytes();
        let mut head = [side(self.width), side(self.height)].concat();
        head.extend([8, 2, 0, 0, 0]); // 8 bits, RGB, deflate, adaptive filters, not interlaced
        let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
        chunk(&mut png, b"IHDR", &head);
        chunk(&mut png, b"IDAT", &miniz_oxide::deflate::compress_to_vec_zlib(&rows, 8));
        chunk(&mut png, b"IEND", &[]);
        png
    }
}

fn chunk(png: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    png.extend(u32::try_from(data.len()).unwrap_or_default().to_be_bytes());
    let body = [kind.as_slice(), data].concat();
    png.extend(&body);
    png.extend(crc32(&body).to_be_bytes());
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::{Picture, crc32};

    #[test]
    fn reads_a_screen() {
        let mut file = vec![0; 100];
        for (index, value) in [(0_usize, 100_u32), (4, 2), (5, 1), (11, 32), (12, 8), (19, 1)] {
            file[index * 4..index * 4 + 4].copy_from_slice(&value.to_be_bytes());
        }
        file.extend([0; 12]); // one colour
        file.extend([3, 2, 1, 0, 6, 5, 4, 0]);
        let picture = Picture::of_xwd(&file).unwrap();
        assert_eq!(picture, Picture { width: 2, height: 1, rgb: vec![1, 2, 3, 4, 5, 6] });
        assert_eq!(Picture::of_xwd(&file[..110]), None, "cut short");
    }

    #[test]
    fn a_known_checksum() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
