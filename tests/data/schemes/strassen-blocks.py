# blocks with one digit
s1 = a2+a3; m0 = (a0+a3)@(b0+b3)
m1 = s1@b0
m2 = a0@(b1-b3); m3 = a3@(b2-b0)
m4 = (a0+a1)@b3
m5 = (a2-a0)@(b0+b1)
m6 = (a1-a3)@(b2+b3)
c0 = m0+m3-m4+m6; c1 = m2+m4
c2 = m1+m3
c3 = m0-m1+m2+m5
c = Combine4x4([c0,c1,c2,c3])
